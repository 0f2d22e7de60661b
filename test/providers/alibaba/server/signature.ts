/** Verifies the V3 signature of a request from what arrived, by code of its own. */
import { createHash, createHmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../../../src/os/clock.ts';
import { EcsRefusal, REFUSALS } from './refusal.ts';

export interface AcceptedKey {
  readonly secret: string;
  readonly token?: string;
  readonly isExpired?: boolean;
}

const HEADER = /^ACS3-HMAC-SHA256 Credential=([^,]+),SignedHeaders=([^,]+),Signature=([0-9a-f]{64})$/;
const MAX_SKEW_MS = 15 * 60_000;

export function createSignatureCheck(
  keys: ReadonlyMap<string, AcceptedKey>,
  clock: Clock,
): (request: IncomingMessage) => void {
  const nonces = new Set<string>();
  return (request) => {
    const { headers } = request;
    const { id, names, signature } = readHeader(headers.authorization ?? '');
    const secret = secretOf(keys.get(id), headers['x-acs-security-token']);
    const skewMs = Math.abs(Date.parse(String(headers['x-acs-date'])) - clock.now().getTime());
    if (!(skewMs < MAX_SKEW_MS)) throw refused('InvalidTimeStamp.Expired', 'The time is expired.');
    const nonce = String(headers['x-acs-signature-nonce']);
    if (nonces.has(nonce)) throw refused('SignatureNonceUsed', 'The nonce was used already.');
    nonces.add(nonce);
    checkSignature(request, { names, signature, secret });
  };
}

function readHeader(header: string): Readonly<Record<'id' | 'names' | 'signature', string>> {
  const [, id = '', names = '', signature] = HEADER.exec(header) ?? [];
  if (signature === undefined) throw refused('IncompleteSignature', 'The signature is not complete.');
  return { id, names, signature };
}

function secretOf(key: AcceptedKey | undefined, token: unknown): string {
  if (!key) throw REFUSALS.noKey();
  if (key.isExpired || key.token !== token) throw REFUSALS.expired();
  return key.secret;
}

function checkSignature(
  { headers, method = '', url = '' }: IncomingMessage,
  { names, signature, secret }: Readonly<Record<'names' | 'signature' | 'secret', string>>,
): void {
  const signed = names.split(';');
  const required = ['host', ...Object.keys(headers).filter((name) => name.startsWith('x-acs-'))];
  const lines = signed.map((name) => `${name}:${String(headers[name]).trim()}`);
  const canonical = [method, '/', sortedQuery(url), ...lines, '', names, sha256('')].join('\n');
  const expected = createHmac('sha256', secret)
    .update(`ACS3-HMAC-SHA256\n${sha256(canonical)}`)
    .digest('hex');
  if (required.every((name) => signed.includes(name)) && signature === expected) return;
  throw refused('SignatureDoesNotMatch', `The server string to sign is: ${canonical}`);
}

function refused(code: string, message: string): EcsRefusal {
  return new EcsRefusal(400, code, message);
}

function sortedQuery(url: string): string {
  return url
    .slice(url.indexOf('?') + 1)
    .split('&')
    .toSorted()
    .join('&');
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
