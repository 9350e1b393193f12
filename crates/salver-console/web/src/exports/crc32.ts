// CRC-32 as zip, gzip and the header `salver-crc32` have it: polynomial 0xEDB88320, reflected.
const TABLE = new Uint32Array(256).map((_, index) => {
  let value = index;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

/** The checksum of bytes, as eight hexadecimal digits. */
export function crc32(bytes: Uint8Array): string {
  let value = 0xffffffff;
  for (const byte of bytes) value = (value >>> 8) ^ (TABLE[(value ^ byte) & 0xff] ?? 0);
  return ((value ^ 0xffffffff) >>> 0).toString(16).padStart(8, "0");
}
