/**
 * Decides whether a request was signed with the secret of a webhook. Each git host signs in its own way, and the headers of a request
 * tell which one it is. Pure.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

/** The headers of a request, by lower-case name. */
export type HookHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

export interface SignedRequest {
  readonly headers: HookHeaders;
  readonly body: Buffer;
}

/**
 * StandardWebhooks: HMAC over id, time and body; GitLab with a signing token, and scripts. HubSignature: HMAC over the body; GitHub,
 * Bitbucket, and the compatible header of Gitea and Forgejo. GiteaSignature: the same without prefix. GitLabToken: the secret itself.
 */
export type SignatureScheme = 'StandardWebhooks' | 'HubSignature' | 'GiteaSignature' | 'GitLabToken';

interface Scheme {
  readonly name: SignatureScheme;
  /** The header without which a request is not of this scheme. */
  readonly header: string;
  isValid(request: SignedRequest, secret: string, now: Date): boolean;
}

/** The clocks of both sides may differ, and a host may queue a delivery. It is the limit of the Standard Webhooks libraries. */
const MAX_AGE_MS = 300_000;

/** From the most to the least protection: a request with headers of several is judged by the first one, and by no other. */
const SCHEMES: readonly Scheme[] = [
  { name: 'StandardWebhooks', header: 'webhook-signature', isValid: isStandardValid },
  {
    name: 'HubSignature',
    header: 'x-hub-signature-256',
    isValid: (request, secret) =>
      isBodySigned(request, secret, textOf(request.headers, 'x-hub-signature-256').replace(/^sha256=/, '')),
  },
  {
    name: 'GiteaSignature',
    header: 'x-gitea-signature',
    isValid: (request, secret) => isBodySigned(request, secret, textOf(request.headers, 'x-gitea-signature')),
  },
  {
    name: 'GitLabToken',
    header: 'x-gitlab-token',
    isValid: ({ headers }, secret) => isSameText(textOf(headers, 'x-gitlab-token'), secret),
  },
];

/** Returns how the request claims to be signed; undefined: it has no signature. It needs no body, so it is asked before one is read. */
export function signatureScheme(headers: HookHeaders): SignatureScheme | undefined {
  return schemeOf(headers)?.name;
}

/** Tells whether one of the secrets signed the request. Several are valid while a secret is being changed. */
export function isSigned(request: SignedRequest, secrets: readonly string[], now: Date): boolean {
  const scheme = schemeOf(request.headers);
  return scheme !== undefined && secrets.some((secret) => scheme.isValid(request, secret, now));
}

export function textOf(headers: HookHeaders, name: string): string {
  const value = headers[name];
  return typeof value === 'string' ? value : '';
}

function schemeOf(headers: HookHeaders): Scheme | undefined {
  return SCHEMES.find(({ header }) => headers[header] !== undefined);
}

function isBodySigned({ body }: SignedRequest, secret: string, hex: string): boolean {
  return isSameText(hex.toLowerCase(), createHmac('sha256', secret).update(body).digest('hex'));
}

function isStandardValid({ headers, body }: SignedRequest, secret: string, now: Date): boolean {
  const id = textOf(headers, 'webhook-id');
  const timestamp = textOf(headers, 'webhook-timestamp');
  if (id === '' || !isRecent(timestamp, now)) return false;
  const expected = createHmac('sha256', keyOf(secret))
    .update(`${id}.${timestamp}.`)
    .update(body)
    .digest('base64');
  const signatures = textOf(headers, 'webhook-signature').split(' ');
  return signatures.some((signature) => isSameText(signature, `v1,${expected}`));
}

/** Decodes the secret of the Standard Webhooks form, and takes any other text as it is. */
function keyOf(secret: string): Buffer {
  const [, encoded] = /^whsec_([A-Za-z0-9+/]+=*)$/.exec(secret) ?? [];
  return encoded === undefined ? Buffer.from(secret) : Buffer.from(encoded, 'base64');
}

function isRecent(timestamp: string, now: Date): boolean {
  if (!/^\d{1,12}$/.test(timestamp)) return false;
  return Math.abs(now.getTime() - Number(timestamp) * 1000) <= MAX_AGE_MS;
}

/** Compares in a time that does not tell where the first difference is. The length may be known. */
/** Compares in a time that does not tell where they differ. */
export function isSameText(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
