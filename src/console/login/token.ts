/** Reads the token that a person enters. Only the API server judges it: what is read here shortens a session, and never prolongs it. Pure. */
import { isRecord } from '../../kube/objects/json.ts';

/** The API server refuses headers of 1 MiB; tokens of issuers have up to a few KiB. */
const MAX_TOKEN_LENGTH = 16 * 1024;
/** Visible characters of ASCII: what a header can carry. */
const TOKEN = /^[\x21-\x7E]+$/;

export type ParsedToken = { readonly token: string } | { readonly because: string };

/** Accepts what people copy: with spaces around it, or as the whole header. */
export function parseToken(text: string): ParsedToken {
  const token = text.trim().replace(/^(?:authorization:\s*)?bearer\s+/i, '');
  if (token === '') return { because: 'enter a token' };
  if (token.length > MAX_TOKEN_LENGTH) return { because: 'the token is too long' };
  if (!TOKEN.test(token)) return { because: 'a token has no spaces and only ASCII: copy it again' };
  return { token };
}

/** Returns when a token ends, if it is a JWT and states it. The signature is not checked here. */
export function tokenEnd(token: string): Date | undefined {
  const [, claims = ''] = token.split('.');
  try {
    const parsed: unknown = JSON.parse(Buffer.from(claims, 'base64url').toString('utf8'));
    const seconds = isRecord(parsed) ? parsed['exp'] : undefined;
    const end = new Date(typeof seconds === 'number' ? seconds * 1000 : Number.NaN);
    return Number.isNaN(end.getTime()) ? undefined : end;
  } catch {
    return undefined;
  }
}
