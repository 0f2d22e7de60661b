/**
 * Makes plain, bounded JSON of whatever somebody wants to log, without what nobody may read: by the type of the
 * thing (Secrets, keys, bytes), by the name of the field, and by how a text looks. Never throws.
 */
import { KeyObject } from 'node:crypto';

export const MASK = '[hidden]';

const MAX_DEPTH = 8;
const MAX_ITEMS = 100;
const MAX_TEXT = 8192;

/** Compared without case, `-` and `_`: client-key-data is clientKeyData is CLIENT_KEY_DATA. */
const SECRET_FIELDS = new Set([
  'authorization',
  'proxyauthorization',
  'cookie',
  'setcookie',
  'token',
  'bearertoken',
  'accesstoken',
  'refreshtoken',
  'idtoken',
  'clientsecret',
  'password',
  'passphrase',
  'privatekey',
  'secretaccesskey',
  'accesskeysecret',
  'apikey',
  'keypem',
  'keydata',
  'clientkeydata',
  'clientcertificatedata',
  'stringdata',
]);

/** What a secret looks like inside a text, wherever the text comes from. `$1` is kept. */
const SECRET_TEXTS: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [/-----BEGIN ([A-Z ]*)PRIVATE KEY-----[\s\S]*?(-----END \1PRIVATE KEY-----|$)/g, MASK],
  [/\b(Bearer|Basic)\s+[\w~+/.=-]{8,}/gi, `$1 ${MASK}`],
  [/\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g, MASK],
  [/(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/@:]*:[^\s/@]+@/gi, `$1${MASK}@`],
  [
    /(\b(?:client-key-data|client-certificate-data|token|password|id-token|refresh-token)["']?\s*:\s*)(?!\[)["']?[^\s"',}]{6,}["']?/gi,
    `$1${MASK}`,
  ],
  [/([?&](?:access_token|token|password|key|signature)=)[^&\s"']+/gi, `$1${MASK}`],
];

/** A whole kubeconfig, as YAML or JSON. Its path may be shown, its content never. */
const KUBECONFIG = /(?=[\s\S]*\bkind["']?\s*:\s*["']?Config\b)(?=[\s\S]*\busers["']?\s*:)/;
/** All that may be seen of a Secret: which one it is. */
const SHOWN_OF_SECRETS = new Set([
  'apiVersion',
  'kind',
  'metadata',
  'name',
  'namespace',
  'uid',
  'resourceVersion',
]);

export function redactFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const result = maskObject(fields, { depth: 0, above: [] });
  return typeof result === 'object' && result !== null ? { ...result } : {};
}

/** Also for texts that go elsewhere: Events, conditions, the terminal. */
export function redactText(text: string): string {
  let result = text;
  for (const [pattern, replacement] of SECRET_TEXTS) result = result.replace(pattern, replacement);
  return KUBECONFIG.test(result) ? MASK : result;
}

interface Place {
  readonly depth: number;
  readonly inSecret?: boolean;
  /** The objects that this one lies in: a cycle is cut, a thing that is named twice is written twice. */
  readonly above: readonly object[];
}

function mask(value: unknown, place: Place): unknown {
  if (typeof value === 'string') return readable(value);
  if (typeof value === 'object') return value === null ? null : maskObject(value, place);
  if (typeof value === 'function') return '[function]';
  if (typeof value === 'bigint' || typeof value === 'symbol') return value.toString();
  return value;
}

function maskObject(value: object, { depth, above, inSecret = false }: Place): unknown {
  if (above.includes(value)) return '[circular]';
  if (depth > MAX_DEPTH) return '[too deep]';
  const below = { depth: depth + 1, above: [...above, value], inSecret: inSecret || isSecret(value) };
  try {
    return special(value, below) ?? maskFields(value, below);
  } catch {
    return '[unreadable]';
  }
}

/** By type. Undefined: an object like any other. */
function special(value: object, place: Place): unknown {
  if (value instanceof Error) return maskError(value, place);
  if (value instanceof Map) return maskFields(Object.fromEntries<unknown>(value), place);
  if (value instanceof Set) return maskList([...value], place);
  if (Array.isArray(value)) return maskList(value, place);
  if (value instanceof KeyObject) return MASK;
  return asText(value);
}

function asText(value: object): string | undefined {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'invalid date' : value.toISOString();
  if (value instanceof URL) return redactText(value.href);
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`;
  return undefined;
}

function maskList(items: readonly unknown[], place: Place): unknown[] {
  const shown = items.slice(0, MAX_ITEMS).map((item) => mask(item, place));
  return items.length > MAX_ITEMS ? [...shown, `[${items.length - MAX_ITEMS} more]`] : shown;
}

function maskFields(value: object, place: Place): Record<string, unknown> {
  const names = Object.keys(value);
  const entries = names.slice(0, MAX_ITEMS).map((name) => [name, maskField(value, name, place)] as const);
  return Object.fromEntries(entries);
}

function maskField(owner: object, name: string, place: Place): unknown {
  const value: unknown = Reflect.get(owner, name);
  if (value === undefined || value === null || typeof value === 'boolean') return value;
  const hidden = isSecretField(name) || (place.inSecret === true && !SHOWN_OF_SECRETS.has(name));
  return hidden ? MASK : mask(value, place);
}

function isSecret(value: object): boolean {
  return 'kind' in value && (value.kind === 'Secret' || value.kind === 'SecretList');
}

function isSecretField(name: string): boolean {
  return SECRET_FIELDS.has(name.replaceAll(/[-_]/g, '').toLowerCase());
}

/**
 * `code` and the chain of causes are what a reader looks for first. The stack is for errors that nobody
 * foresaw: one with a code says by it what happened.
 */
function maskError(error: Error, place: Place): Record<string, unknown> {
  const own = maskFields(error, place);
  const { cause } = error;
  return {
    name: error.name,
    message: readable(error.message),
    ...own,
    ...('code' in error || error.stack === undefined ? {} : { stack: readable(error.stack) }),
    ...(cause === undefined ? {} : { cause: mask(cause, place) }),
    ...(error instanceof AggregateError ? { errors: maskList(error.errors, place) } : {}),
  };
}

/** Cut once before, so that the patterns never see megabytes, and far enough behind what is shown. */
function readable(text: string): string {
  const result = redactText(text.slice(0, 2 * MAX_TEXT));
  return result.length <= MAX_TEXT ? result : `${result.slice(0, MAX_TEXT)}… [cut]`;
}
