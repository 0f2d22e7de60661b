/**
 * Signs a request by the V3 method of Alibaba Cloud, ACS3-HMAC-SHA256. Pure: the tests compare it with the example of the documentation
 * ("Request syntax and signature method V3").
 */
import { createHash, createHmac } from 'node:crypto';
import type { AlibabaCredentials } from '../credentials/temporary.ts';

export interface UnsignedRequest {
  /** The host of the URL, with its port if it is not that of the protocol. */
  readonly host: string;
  readonly action: string;
  readonly version: string;
  readonly query: Readonly<Record<string, string>>;
  readonly at: Date;
  /** Never twice within 15 minutes. */
  readonly nonce: string;
}

const ALGORITHM = 'ACS3-HMAC-SHA256';
/** Parameters of these APIs are in the query: the body is empty. */
const EMPTY_BODY = sha256('');

/** Returns the headers of a POST of `query`, but for `host`, which the client adds. */
export function signRequest(
  request: UnsignedRequest,
  { accessKeyId, accessKeySecret, securityToken }: AlibabaCredentials,
): Readonly<Record<string, string>> {
  const headers = {
    'x-acs-action': request.action,
    'x-acs-content-sha256': EMPTY_BODY,
    'x-acs-date': request.at.toISOString().replace(/\.\d+Z$/, 'Z'),
    ...(securityToken === undefined ? {} : { 'x-acs-security-token': securityToken }),
    'x-acs-signature-nonce': request.nonce,
    'x-acs-version': request.version,
  };
  const canonical = canonicalRequest(canonicalQuery(request.query), { host: request.host, ...headers });
  const signature = createHmac('sha256', accessKeySecret)
    .update(`${ALGORITHM}\n${sha256(canonical)}`)
    .digest('hex');
  const names = signedNames({ host: request.host, ...headers }).join(';');
  return {
    ...headers,
    authorization: `${ALGORITHM} Credential=${accessKeyId},SignedHeaders=${names},Signature=${signature}`,
  };
}

export function canonicalRequest(query: string, headers: Readonly<Record<string, string>>): string {
  const names = signedNames(headers);
  const lines = names.map((name) => `${name}:${headers[name]?.trim() ?? ''}\n`).join('');
  return ['POST', '/', query, lines, names.join(';'), EMPTY_BODY].join('\n');
}

function signedNames(headers: Readonly<Record<string, string>>): readonly string[] {
  return Object.keys(headers).toSorted();
}

/** Returns the query in the order of its encoded names, as it is signed and as it is sent. */
export function canonicalQuery(query: Readonly<Record<string, string>>): string {
  return Object.entries(query)
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .toSorted()
    .join('&');
}

/** Encodes by RFC 3986, in which fewer characters stay than with encodeURIComponent. */
function encode(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
