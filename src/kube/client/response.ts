/**
 * Parses answers of the API server. Pure. Any answer that violates the API is BadAnswer: an empty 200, a login page or
 * a list without items must never look like an empty list.
 */
import { isConditionReason } from '../objects/conditions.ts';
import { isRecord, listAt, textAt, valueAt } from '../objects/json.ts';
import type { KubeObject, Resource } from '../objects/object.ts';
import type { HttpResponse } from '../transport/transport.ts';
import type { ListPage } from './client.ts';
import { KubeError, type KubeErrorCode, type StatusCause } from './errors.ts';
import { apiVersionOf } from './paths.ts';
import { capRetryAfter, parseRetryAfter } from './retry-after.ts';

interface Status {
  readonly kind: 'Status';
  readonly status?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly code?: number;
  readonly details?: { readonly causes?: readonly StatusCause[]; readonly retryAfterSeconds?: number };
}

const BY_STATUS: Readonly<Record<number, KubeErrorCode>> = {
  400: 'Invalid',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'Invalid',
  406: 'Invalid',
  408: 'Timeout',
  409: 'Conflict',
  410: 'Gone',
  413: 'Invalid',
  415: 'Invalid',
  422: 'Invalid',
  429: 'TooManyRequests',
  504: 'Timeout',
};

/** Length of excerpts in messages: enough to recognize a page of a proxy. */
const EXCERPT_LENGTH = 200;

/** The parsed body of a successful answer. */
export function parseJson(response: HttpResponse): unknown {
  if (response.status < 200 || response.status > 299) throw errorOfResponse(response);
  return parseBody(response);
}

function parseBody({ status, body }: HttpResponse): unknown {
  if (body.trim() === '') {
    throw new KubeError('BadAnswer', `the answer is empty, status ${status}`, { status });
  }
  try {
    return JSON.parse(body);
  } catch (error) {
    // No excerpt of a truncated object, which may be a Secret. The parser's message quotes the text: it is not used either.
    const what = body.trimStart().startsWith('{') ? 'invalid JSON' : `not JSON: ${excerpt(body)}`;
    throw new KubeError('BadAnswer', `the answer is ${what}`, { status, reason: (error as Error).name });
  }
}

/** `name` is the requested name; without it (generateName, reviews) any name is accepted. */
export function parseObject(
  response: HttpResponse,
  resource: Resource,
  name: string | undefined,
): KubeObject {
  const value = parseJson(response);
  const expected = `${resource.kind} of ${apiVersionOf(resource)}`;
  if (!isRecord(value) || value['kind'] !== resource.kind || value['apiVersion'] !== apiVersionOf(resource)) {
    throw badAnswer(response, `expected a ${expected}, got ${describeKind(value)}`);
  }
  if (name !== undefined && (!isKubeObject(value) || value.metadata.name !== name)) {
    throw badAnswer(response, `expected the ${expected} named ${name}, got another object`);
  }
  return value as unknown as KubeObject;
}

/** For subresources and raw calls: an object of any kind. */
export function parseAnyObject(response: HttpResponse): KubeObject {
  const value = parseJson(response);
  if (!isRecord(value) || typeof value['kind'] !== 'string') {
    throw badAnswer(response, `expected an object, got ${describeKind(value)}`);
  }
  return value as unknown as KubeObject;
}

/** The deleted object; undefined when the server answers with a Success. */
export function parseDeleted(response: HttpResponse, resource: Resource): KubeObject | undefined {
  const value = parseAnyObject(response);
  if (isStatus(value) && value.status === 'Success') return undefined;
  if (value.kind !== resource.kind) {
    throw badAnswer(response, `expected a Status, got ${describeKind(value)}`);
  }
  return value;
}

export function parseList<T>(response: HttpResponse, resource: Resource): ListPage<T> {
  const value = parseJson(response);
  const kind = `${resource.kind}List`;
  if (textAt(value, 'kind') !== kind) {
    throw badAnswer(response, `expected a ${kind}, got ${describeKind(value)}`);
  }
  const items = valueAt(value, 'items');
  if (!Array.isArray(items)) throw badAnswer(response, `the ${kind} has no items`);
  const resourceVersion = textAt(value, 'metadata', 'resourceVersion');
  if (!resourceVersion) throw badAnswer(response, `the ${kind} has no resourceVersion`);
  const next = textAt(value, 'metadata', 'continue');
  // The caller chose the type T; only the presence of a name is checked.
  const page = { items: items.map((item) => completeItem(item, resource, response)) as T[], resourceVersion };
  const remaining = valueAt(value, 'metadata', 'remainingItemCount');
  return {
    ...page,
    ...(next ? { continue: next } : {}),
    ...(typeof remaining === 'number' ? { remaining } : {}),
  };
}

/** Lists of built-in kinds omit apiVersion and kind of their items. */
function completeItem(item: unknown, resource: Resource, response: HttpResponse): unknown {
  if (!isRecord(item) || !textAt(item, 'metadata', 'name')) {
    throw badAnswer(response, `the ${resource.kind}List has an item without a name`);
  }
  return item['kind'] === undefined
    ? { apiVersion: apiVersionOf(resource), kind: resource.kind, ...item }
    : item;
}

// The API server answers 500 without a reason when an apply has an unknown field or data that is not base64 (at least up to
// 1.36; test/cluster/kube/client/rest-client.test.ts and test/cluster/sync/preview.test.ts fail when that changes). Only its
// message identifies these errors.
const UNTYPED = /^failed to create typed patch object|illegal base64 data at input byte \d+$/;

// After a start, an API server denies all that a policy matches until it has read the kind of the policy's parameters. It
// answers 422 Invalid, although it has not judged the object (dispatchers of admission policies, at least up to 1.36).
const NOT_JUDGED =
  /denied request: failed to configure (?:policy|binding): (?:failed to find resource referenced by paramKind|paramKind kind .* not (?:known|yet synced))/;

export function errorOfResponse(response: HttpResponse): KubeError {
  const { status, headers, body } = response;
  const parsed = statusIn(body);
  if (!parsed) return foreignError(response);
  return errorOfStatus(parsed, status, parseRetryAfter(headers['retry-after']));
}

/** Also for ERROR events of a watch. `code` is the HTTP status. */
export function errorOfStatus(object: Status, status: number, retryAfterSeconds?: number): KubeError {
  const { details } = object;
  const message = textAt(object, 'message') ?? `status ${status}`;
  const reason = reasonOf(object);
  const code = codeOfMessage(status, message) ?? codeOf(status, reason);
  return new KubeError(code, message, {
    status,
    causes: listAt(object, 'details', 'causes').filter(isRecord),
    ...(reason ? { reason } : {}),
    ...retryDetails(retryAfterSeconds ?? details?.retryAfterSeconds),
  });
}

/** Webhooks and aggregated API servers may send any text. Conditions take a CamelCase word only. */
function reasonOf(status: Status): string | undefined {
  const reason = textAt(status, 'reason');
  return reason !== undefined && isConditionReason(reason) ? reason : undefined;
}

/**
 * An error without a Status comes from a proxy or another server, so a 404 does not mean that the object is missing.
 * (The API server itself answers 404 in plain text for a path that it does not serve.)
 */
function foreignError({ status, headers, body }: HttpResponse): KubeError {
  const code = status === 404 || status === 409 || status === 410 ? 'BadAnswer' : codeOf(status, undefined);
  const unserved =
    status === 404 ? ': the server does not serve this path (CRD not installed, or not an API server)' : '';
  return new KubeError(code, `status ${status}${unserved}: ${excerpt(body)}`, {
    status,
    ...retryDetails(parseRetryAfter(headers['retry-after'])),
  });
}

function retryDetails(seconds: number | undefined): { readonly retryAfterSeconds?: number } {
  return seconds === undefined ? {} : { retryAfterSeconds: capRetryAfter(seconds) };
}

function codeOfMessage(status: number, message: string): KubeErrorCode | undefined {
  if (status === 500 && UNTYPED.test(message)) return 'Invalid';
  return status === 422 && NOT_JUDGED.test(message) ? 'ServerError' : undefined;
}

function codeOf(status: number, reason: string | undefined): KubeErrorCode {
  if (status === 409 && reason === 'AlreadyExists') return 'AlreadyExists';
  if (status === 404 && reason !== 'NotFound') return 'BadAnswer';
  return BY_STATUS[status] ?? (status >= 500 ? 'ServerError' : 'BadAnswer');
}

export function statusIn(body: string): Status | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return isStatus(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function isStatus(value: unknown): value is Status {
  return isRecord(value) && value['kind'] === 'Status';
}

export function isKubeObject(value: unknown): value is KubeObject {
  return (
    ['kind', 'apiVersion'].every((field) => textAt(value, field)) &&
    Boolean(textAt(value, 'metadata', 'name'))
  );
}

function badAnswer({ status }: HttpResponse, message: string): KubeError {
  return new KubeError('BadAnswer', message, { status });
}

function describeKind(value: unknown): string {
  if (!isRecord(value)) return Array.isArray(value) ? 'an array' : `the JSON of a ${typeof value}`;
  const { kind, apiVersion } = value;
  if (typeof kind !== 'string') {
    return `an object without kind (it has ${Object.keys(value).slice(0, 5).join(', ') || 'nothing'})`;
  }
  return typeof apiVersion === 'string' ? `a ${kind} of ${apiVersion}` : `a ${kind}`;
}

function excerpt(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > EXCERPT_LENGTH ? `${line.slice(0, EXCERPT_LENGTH)}…` : line || 'an empty body';
}
