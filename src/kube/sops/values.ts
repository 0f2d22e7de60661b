/** Decrypts single values of a file that SOPS encrypted, and gives each the bytes that count for the checksum of SOPS. */
import { createDecipheriv } from 'node:crypto';

/** Messages name no value: they are shown in the status and in logs. */
export class SopsError extends Error {
  override readonly name = 'SopsError';
}

export type SopsValue = string | number | boolean;

/** The tag has all of its 16 bytes: a shorter one is easier to forge. SOPS writes a nonce of 32 bytes. */
const ENCRYPTED =
  /^ENC\[AES256_GCM,data:(?<data>[A-Za-z0-9+/=]*),iv:(?<iv>[A-Za-z0-9+/]{4,64}={0,2}),tag:(?<tag>[A-Za-z0-9+/]{22}==),type:(?<type>\w+)\]$/;
const KEY_BYTES = 32;
const TAG_BYTES = 16;

export function isEncryptedValue(value: unknown): value is string {
  return typeof value === 'string' && value.startsWith('ENC[AES256_GCM,');
}

/** Decrypts a value. `context` is authenticated with it: a value that was moved to another field is refused. */
export function decryptValue(text: string, key: Uint8Array, context: string): SopsValue {
  if (key.length !== KEY_BYTES) throw new SopsError(`expected a data key of ${KEY_BYTES} bytes`);
  const sealed = parseValue(text);
  return typedValue(decryptBytes(sealed, key, context).toString('utf8'), sealed.type);
}

type SealedValue = Readonly<Record<'data' | 'iv' | 'tag' | 'type', string>>;

function parseValue(text: string): SealedValue {
  const groups = ENCRYPTED.exec(text)?.groups;
  if (!groups) throw new SopsError('it is not in the format of SOPS');
  const { data = '', iv = '', tag = '', type = '' } = groups;
  return { data, iv, tag, type };
}

function decryptBytes({ data, iv, tag }: SealedValue, key: Uint8Array, context: string): Buffer {
  const nonce = Buffer.from(iv, 'base64');
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(context)).setAuthTag(Buffer.from(tag, 'base64'));
  try {
    return Buffer.concat([decipher.update(Buffer.from(data, 'base64')), decipher.final()]);
  } catch {
    throw new SopsError('it was changed, or moved here from another field');
  }
}

function typedValue(text: string, type: string): SopsValue {
  if (type === 'str') return text;
  if (type === 'bool' && /^(true|false)$/i.test(text)) return text.toLowerCase() === 'true';
  if (type === 'int' || type === 'float') return numberOf(text);
  throw new SopsError(`its type ${type} is not supported: quote the value, and encrypt the file again`);
}

function numberOf(text: string): number {
  const value = Number(text);
  const isExact = Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
  if (text !== '' && isExact) return value;
  throw new SopsError('it is a number that JavaScript cannot represent exactly: quote it, and encrypt again');
}

/** Returns a value as SOPS counts it. */
export function checksumText(value: SopsValue): string {
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return typeof value === 'number' ? decimalText(value) : value;
}

const EXPONENT = /^(?<sign>-?)(?<digits>\d(?:\.\d+)?)e(?<exponent>[+-]\d+)$/;

/** Writes a number without an exponent, in the shortest form that is read as the same number. */
function decimalText(value: number): string {
  const text = Object.is(value, -0) ? '-0' : String(value);
  const groups = EXPONENT.exec(text)?.groups;
  if (!groups) return text;
  const { sign = '', digits = '', exponent } = groups;
  const [all, point] = [digits.replace('.', ''), 1 + Number(exponent)];
  return `${sign}${point > 0 ? all.padEnd(point, '0') : `0.${'0'.repeat(-point)}${all}`}`;
}
