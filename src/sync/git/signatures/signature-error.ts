/** Explains why a signature, or a key, is not accepted. The message completes "commit X: …". */
export class SignatureError extends Error {
  override readonly name = 'SignatureError';
}
