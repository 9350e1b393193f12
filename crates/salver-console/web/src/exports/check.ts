import { ApiError, apiPath, send } from "../api";

/** Asks whether an entry can be exported, without its rows. Rejects with the reason if not. */
export async function checkExport(name: string, signal?: AbortSignal): Promise<void> {
  try {
    await send({ method: "HEAD", path: apiPath("export", `${name}.csv`) }, signal);
  } catch (error) {
    if (!(error instanceof ApiError) || ![403, 404].includes(error.status)) throw error;
    // Without a body the answer has no reason. An entry that may not be exported is not there for exports.
    const hint = "What one may read in pages one may not always export: an [[access]] of the server's configuration would have to permit it.";
    throw new ApiError(error.status, error.word, `You may not export ${name}.`, hint, null, error.asked);
  }
}
