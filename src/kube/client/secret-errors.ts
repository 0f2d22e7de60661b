/**
 * Errors of writes of Secrets. The API server, webhooks and proxies quote what was sent, and messages of errors reach logs,
 * statuses, Events and plans. So only the reason, the paths and texts of a known form are kept. Pure.
 */
import { isRecord, type JsonRecord } from '../objects/json.ts';
import type { Resource } from '../objects/object.ts';
import { SECRET_FIELDS } from '../objects/redact-secret.ts';
import { KubeError, type StatusCause } from './errors.ts';

export function isSecretResource({ group, kind }: Resource): boolean {
  return group === '' && kind === 'Secret';
}

/** Texts that hold no value of the object, and tell what to do. */
const KNOWN_TEXTS = [
  /field is immutable/,
  /illegal base64 data at input byte \d+$/,
  /^conflict with "[^"]{1,128}"/,
  /User "[^"]{1,253}" cannot \w+ resource "secrets" in API group ""( in the namespace "[^"]{1,63}")?/,
  /^namespaces "[^"]{1,63}" not found$/,
  /ValidatingAdmissionPolicy '[^']{1,253}' with binding '[^']{1,253}' denied request/,
  /admission webhook "[^"]{1,253}" denied the request/,
];

/** The same error without the texts of the server. `sent` is the body of the request. */
export function withoutSecretValues(error: unknown, sent: unknown): unknown {
  if (!(error instanceof KubeError)) return error;
  const { code, message, status, reason, causes, retryAfterSeconds } = error;
  const kept = causes.map(withoutValues);
  const details = [...new Set([...pathsIn(message, sent), ...kept.flatMap(textOf), ...knownTexts(message)])];
  const text = [reason ?? code, ...(details.length > 0 ? [details.join(', ')] : [])].join(': ');
  return new KubeError(code, `${text} (the message of the server may quote the Secret: not shown)`, {
    causes: kept,
    ...(status === undefined ? {} : { status }),
    ...(reason === undefined ? {} : { reason }),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
}

function withoutValues({ reason, field, message = '' }: StatusCause): StatusCause {
  const [known] = knownTexts(message);
  return {
    ...(reason === undefined ? {} : { reason }),
    ...(field === undefined ? {} : { field }),
    ...(known === undefined ? {} : { message: known }),
  };
}

function textOf({ reason, field, message }: StatusCause): string[] {
  const text = [field, message ?? reason].filter((part) => part !== undefined).join(': ');
  return text === '' ? [] : [text];
}

function knownTexts(message: string): string[] {
  return KNOWN_TEXTS.flatMap((pattern) => pattern.exec(message)?.[0] ?? []);
}

/** The paths of what was sent that the message names. The keys of a Secret are not secret. */
function pathsIn(message: string, sent: unknown): string[] {
  if (!isRecord(sent)) return [];
  return SECRET_FIELDS.flatMap((field) => pathsOf(sent, field)).filter((path) => message.includes(path));
}

function pathsOf(sent: JsonRecord, field: string): string[] {
  const values = sent[field];
  if (!isRecord(values)) return [field];
  return Object.keys(values).flatMap((key) => [`${field}.${key}`, `${field}[${key}]`]);
}
