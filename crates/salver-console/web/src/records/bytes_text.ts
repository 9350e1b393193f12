/** Whether a text is hexadecimal of whole bytes, the notation in which the console shows bytes and takes them. */
export function isHex(text: string): boolean {
  return text.length % 2 === 0 && /^[0-9a-f]*$/i.test(text);
}

/** The base64 of bytes in hexadecimal: what `/api/records` takes, in bodies, paths and conditions. */
export function base64OfHex(hex: string): string {
  let bytes = "";
  for (let at = 0; at < hex.length; at += 2) bytes += String.fromCharCode(parseInt(hex.slice(at, at + 2), 16));
  return btoa(bytes);
}

/** The bytes of a base64 in hexadecimal; `null` for a text that is none. */
export function hexOfBase64(base64: string): string | null {
  if (base64.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(base64)) return null;
  return Array.from(atob(base64), (byte) => byte.charCodeAt(0).toString(16).padStart(2, "0")).join("");
}
