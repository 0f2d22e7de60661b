/**
 * Converts any value to plain, bounded JSON for the log, without secrets. Secrets are recognized by type (Secret
 * objects, keys, bytes), by the name of the field, and by patterns in texts. Never throws.
 */
import { KeyObject } from 'node:crypto';
import { MASK } from '../objects/redact-secret.ts';

const MAX_DEPTH = 8;
const MAX_ITEMS = 100;
const MAX_TEXT = 8192;

/** The names of secret fields, compared without case, `-` and `_`: client-key-data, clientKeyData and CLIENT_KEY_DATA are the same. */
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

/** The patterns of secrets in texts of any origin. `$1` is kept. */
const SECRET_PATTERNS: readonly (readonly [pattern: RegExp, replacement: string])[] = [
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

/** Matches a complete kubeconfig, as YAML or JSON. Its path may be logged, its content never. Anchored: else a long text takes hours. */
const KUBECONFIG = /^(?=[\s\S]*\bkind["']?\s*:\s*["']?Config\b)(?=[\s\S]*\busers["']?\s*:)/;
/** The only fields of a Secret that are logged: its identity. */
const VISIBLE_SECRET_FIELDS = new Set([
  'apiVersion',
  'kind',
  'metadata',
  'name',
  'namespace',
  'uid',
  'resourceVersion',
]);

export function redactFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const result = redactObject(fields, { depth: 0, ancestors: [] });
  return typeof result === 'object' && result !== null ? { ...result } : {};
}

/** Matches what every pattern above, and a kubeconfig, contains. Most texts are names and reasons without it. */
const SUSPICIOUS = /[:=]|eyJ|-----BEGIN|(?:Bearer|Basic)\s/i;

/** Redacts secrets in a text, also outside of the log: in Events, conditions, on the terminal. */
export function redactText(text: string): string {
  if (!SUSPICIOUS.test(text)) return text;
  let result = text;
  for (const [pattern, replacement] of SECRET_PATTERNS) result = result.replace(pattern, replacement);
  return KUBECONFIG.test(result) ? MASK : result;
}

interface Context {
  readonly depth: number;
  readonly inSecret?: boolean;
  /** The enclosing objects, to cut cycles. An object that occurs twice is written twice. */
  readonly ancestors: readonly object[];
}

function redactValue(value: unknown, context: Context): unknown {
  if (typeof value === 'string') return redactAndCut(value);
  if (typeof value === 'object') return value === null ? null : redactObject(value, context);
  if (typeof value === 'function') return '[function]';
  if (typeof value === 'bigint' || typeof value === 'symbol') return value.toString();
  return value;
}

function redactObject(value: object, { depth, ancestors, inSecret = false }: Context): unknown {
  if (ancestors.includes(value)) return '[circular]';
  if (depth > MAX_DEPTH) return '[too deep]';
  const inner = { depth: depth + 1, ancestors: [...ancestors, value], inSecret: inSecret || isSecret(value) };
  try {
    return convertByType(value, inner) ?? redactEntries(value, inner);
  } catch {
    return '[unreadable]';
  }
}

/** Converts a value by its type; undefined for an ordinary object. */
function convertByType(value: object, context: Context): unknown {
  if (value instanceof Error) return redactError(value, context);
  if (value instanceof Map) return redactEntries(Object.fromEntries<unknown>(value), context);
  if (value instanceof Set) return redactList([...value], context);
  if (Array.isArray(value)) return redactList(value, context);
  if (value instanceof KeyObject) return MASK;
  return asText(value);
}

function asText(value: object): string | undefined {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'invalid date' : value.toISOString();
  if (value instanceof URL) return redactText(value.href);
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`;
  return undefined;
}

function redactList(items: readonly unknown[], context: Context): unknown[] {
  const shown = items.slice(0, MAX_ITEMS).map((item) => redactValue(item, context));
  return items.length > MAX_ITEMS ? [...shown, `[${items.length - MAX_ITEMS} more]`] : shown;
}

function redactEntries(value: object, context: Context): Record<string, unknown> {
  const names = Object.keys(value);
  const entries = names.slice(0, MAX_ITEMS).map((name) => [name, redactField(value, name, context)] as const);
  return Object.fromEntries(entries);
}

function redactField(owner: object, name: string, context: Context): unknown {
  const value: unknown = Reflect.get(owner, name);
  if (value === undefined || value === null || typeof value === 'boolean') return value;
  const hidden = isSecretField(name) || (context.inSecret === true && !VISIBLE_SECRET_FIELDS.has(name));
  return hidden ? MASK : redactValue(value, context);
}

function isSecret(value: object): boolean {
  return 'kind' in value && (value.kind === 'Secret' || value.kind === 'SecretList');
}

function isSecretField(name: string): boolean {
  return SECRET_FIELDS.has(name.replaceAll(/[-_]/g, '').toLowerCase());
}

/** Converts an error with its `code` and the chain of causes. Only unexpected errors have a stack: a code explains the others. */
function redactError(error: Error, context: Context): Record<string, unknown> {
  const own = redactEntries(error, context);
  const { cause } = error;
  return {
    name: error.name,
    message: redactAndCut(error.message),
    ...own,
    ...('code' in error || error.stack === undefined ? {} : { stack: redactAndCut(error.stack) }),
    ...(cause === undefined ? {} : { cause: redactValue(cause, context) }),
    ...(error instanceof AggregateError ? { errors: redactList(error.errors, context) } : {}),
  };
}

/**
 * Redacts and cuts a text. It is cut before redacting too, so that the patterns never run on megabytes; later than the final cut, so that
 * no secret is split.
 */
function redactAndCut(text: string): string {
  const result = redactText(text.slice(0, 2 * MAX_TEXT));
  return result.length <= MAX_TEXT ? result : `${result.slice(0, MAX_TEXT)}… [cut]`;
}
