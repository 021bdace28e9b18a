/** Bytes: text in UTF-8, hexadecimal digits, SHA-256. */

import { ClientError } from "./errors.js";

/** Writes text as UTF-8. */
export const encoder = new TextEncoder();
/** How many bytes a text has in UTF-8. */
export const utf8Length = (text) => encoder.encode(text).length;

/** Lower-case hexadecimal digits. */
export const toHex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** Bytes from lower-case hexadecimal digits, or null. */
export function fromHex(text) {
  if (typeof text !== "string" || !/^([0-9a-f]{2})*$/.test(text)) return null;
  const bytes = new Uint8Array(text.length / 2);
  for (let i = 0; i < bytes.length; i += 1) bytes[i] = Number.parseInt(text.slice(2 * i, 2 * i + 2), 16);
  return bytes;
}

/** Whether two arrays hold the same bytes. */
export const sameBytes = (a, b) => a.length === b.length && a.every((byte, i) => byte === b[i]);

/** SHA-256 from the platform, as hexadecimal digits. */
export async function sha256(bytes) {
  const subtle = globalThis.crypto?.subtle;
  if (!subtle) {
    throw new ClientError("insecure", "this page has no SHA-256: browsers offer it only over https or on localhost");
  }
  return toHex(new Uint8Array(await subtle.digest("SHA-256", bytes)));
}
