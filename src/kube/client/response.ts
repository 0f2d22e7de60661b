/**
 * What an answer of the API server means. Pure. Whatever is not exactly what the API promises is BadAnswer: an empty
 * 200, a login page or a list without items must never pass for "there is nothing".
 */

import { isRecord, textAt, valueAt } from '../objects/json.ts';
import type { KubeObject, Resource } from '../objects/object.ts';
import type { HttpResponse } from '../transport/transport.ts';
import type { ListPage } from './client.ts';
import { KubeError, type KubeErrorCode, type StatusCause } from './errors.ts';
import { apiVersionOf } from './paths.ts';

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

/** A part of the answer for messages: enough to recognise a proxy's page. */
const EXCERPT = 200;

/** The parsed body of a good answer. */
export function parseJson(response: HttpResponse): unknown {
  if (response.status < 200 || response.status > 299) throw errorOfResponse(response);
  return parsed(response);
}

function parsed({ status, body }: HttpResponse): unknown {
  if (body.trim() === '') throw new KubeError('BadAnswer', `an empty answer, status ${status}`, { status });
  try {
    return JSON.parse(body);
  } catch (error) {
    // Half an object may be half a Secret: no excerpt of it.
    const what = body.trimStart().startsWith('{') ? 'broken JSON' : `no JSON: ${excerpt(body)}`;
    // The parser's own message quotes the text, so it is not passed on.
    throw new KubeError('BadAnswer', `the answer is ${what}`, { status, reason: (error as Error).name });
  }
}

/** `name` as asked for; without it (generateName, reviews) any name or none. */
export function parseObject(
  response: HttpResponse,
  resource: Resource,
  name: string | undefined,
): KubeObject {
  const value = parseJson(response);
  const wanted = `${resource.kind} of ${apiVersionOf(resource)}`;
  if (!isRecord(value) || value['kind'] !== resource.kind || value['apiVersion'] !== apiVersionOf(resource)) {
    throw bad(response, `expected a ${wanted}, got ${kindText(value)}`);
  }
  if (name !== undefined && (!isKubeObject(value) || value.metadata.name !== name)) {
    throw bad(response, `expected the ${wanted} named ${name}, got another one`);
  }
  return value as unknown as KubeObject;
}

/** Of a subresource or a raw call: any kind, but an object that names its kind. */
export function parseAnyObject(response: HttpResponse): KubeObject {
  const value = parseJson(response);
  if (!isRecord(value) || typeof value['kind'] !== 'string') {
    throw bad(response, `expected an object, got ${kindText(value)}`);
  }
  return value as unknown as KubeObject;
}

/** A deletion answers with a Success, which gives undefined, or with the object. */
export function parseDeleted(response: HttpResponse, resource: Resource): KubeObject | undefined {
  const value = parseAnyObject(response);
  if (isStatus(value) && value.status === 'Success') return undefined;
  if (value.kind !== resource.kind) throw bad(response, `expected a Status, got ${kindText(value)}`);
  return value;
}

export function parseList<T>(response: HttpResponse, resource: Resource): ListPage<T> {
  const value = parseJson(response);
  const kind = `${resource.kind}List`;
  if (textAt(value, 'kind') !== kind) throw bad(response, `expected a ${kind}, got ${kindText(value)}`);
  const items = valueAt(value, 'items');
  if (!Array.isArray(items)) throw bad(response, `the ${kind} has no items`);
  const resourceVersion = textAt(value, 'metadata', 'resourceVersion');
  if (!resourceVersion) throw bad(response, `the ${kind} has no resourceVersion`);
  const next = textAt(value, 'metadata', 'continue');
  // A list is asked for as a list of T; that each item is an object with a name is checked here.
  const page = { items: items.map((item) => completed(item, resource, response)) as T[], resourceVersion };
  return next ? { ...page, continue: next } : page;
}

/** Built-in kinds leave apiVersion and kind out of the items of their lists. */
function completed(item: unknown, resource: Resource, response: HttpResponse): unknown {
  if (!isRecord(item) || !textAt(item, 'metadata', 'name')) {
    throw bad(response, `the ${resource.kind}List holds something without a name`);
  }
  return item['kind'] === undefined
    ? { apiVersion: apiVersionOf(resource), kind: resource.kind, ...item }
    : item;
}

// The API server answers 500 without a reason when an apply has a field that it does not know (up to 1.36 at least;
// test/cluster/kube/client/rest-client.test.ts tells when that changes). Its text is the only sign.
const UNTYPED = 'failed to create typed patch object';

export function errorOfResponse(response: HttpResponse): KubeError {
  const { status, headers, body } = response;
  const said = statusIn(body);
  if (!said) return unsaid(response);
  return errorOfStatus(said, status, retryAfter(headers));
}

/** Also what an ERROR event of a watch stands for. */
export function errorOfStatus(said: Status, status: number, retryAfterSeconds?: number): KubeError {
  const { reason, details = {}, message = `status ${status}` } = said;
  const code = status === 500 && message.startsWith(UNTYPED) ? 'Invalid' : codeOf(status, reason);
  return new KubeError(code, message, {
    status,
    causes: details.causes ?? [],
    ...(reason ? { reason } : {}),
    ...waiting(retryAfterSeconds ?? details.retryAfterSeconds),
  });
}

/**
 * Not the API server itself spoke: a proxy, a load balancer, another server. Its 404 says nothing about our object.
 * (The API server answers 404 in plain text for a path that it does not serve.)
 */
function unsaid({ status, headers, body }: HttpResponse): KubeError {
  const code = status === 404 || status === 409 || status === 410 ? 'BadAnswer' : codeOf(status, undefined);
  const unserved =
    status === 404 ? ': this path is not served here (a CRD that is not installed, or no API server)' : '';
  return new KubeError(code, `status ${status}${unserved}: ${excerpt(body)}`, {
    status,
    ...waiting(retryAfter(headers)),
  });
}

function waiting(seconds: number | undefined): { readonly retryAfterSeconds?: number } {
  return seconds === undefined ? {} : { retryAfterSeconds: seconds };
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

/** Seconds; the other form of the header, a date, is not used by API servers. */
function retryAfter(headers: HttpResponse['headers']): number | undefined {
  const text = headers['retry-after'];
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
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

function bad({ status }: HttpResponse, message: string): KubeError {
  return new KubeError('BadAnswer', message, { status });
}

function kindText(value: unknown): string {
  if (!isRecord(value)) return Array.isArray(value) ? 'an array' : `the JSON of a ${typeof value}`;
  const { kind, apiVersion } = value;
  if (typeof kind !== 'string') {
    return `an object without kind (it has ${Object.keys(value).slice(0, 5).join(', ') || 'nothing'})`;
  }
  return typeof apiVersion === 'string' ? `a ${kind} of ${apiVersion}` : `a ${kind}`;
}

function excerpt(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > EXCERPT ? `${line.slice(0, EXCERPT)}…` : line || 'an empty body';
}
