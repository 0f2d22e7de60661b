import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type HookHeaders, isSigned, signatureScheme } from '../../../src/kube/webhook/signature.ts';
import { NOW } from '../../support/virtual-clock.ts';

const SECRET = 'a secret of the webhook';
const BODY = Buffer.from('{"ref":"refs/heads/main"}');
const hex = (secret: string, body: Buffer = BODY): string =>
  createHmac('sha256', secret).update(body).digest('hex');

function standard(
  changes: { readonly id?: string; readonly seconds?: number; readonly key?: Buffer } = {},
): HookHeaders {
  const { id = 'msg_1', seconds = NOW.getTime() / 1000, key = Buffer.from(SECRET) } = changes;
  const signed = createHmac('sha256', key).update(`${id}.${seconds}.`).update(BODY).digest('base64');
  return {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': `v1a,other v1,${signed}`,
  };
}

/** The example of GitHub's documentation. */
const GITHUB = {
  secret: "It's a Secret to Everybody",
  body: Buffer.from('Hello, World!'),
  signature: 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
};
/** The example of the Standard Webhooks specification's libraries: its key is base64 behind whsec_. */
const STANDARD_KEY = Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64');

describe('S25 the signature of a webhook', () => {
  it.each<[scheme: string, headers: HookHeaders, secret?: string]>([
    ['HubSignature', { 'x-hub-signature-256': `sha256=${hex(SECRET)}` }],
    ['GiteaSignature', { 'x-gitea-signature': hex(SECRET) }],
    ['GiteaSignature', { 'x-gitea-signature': hex(SECRET).toUpperCase() }],
    ['GitLabToken', { 'x-gitlab-token': SECRET }],
    ['StandardWebhooks', standard()],
    ['StandardWebhooks', standard({ seconds: NOW.getTime() / 1000 - 299 })],
    ['StandardWebhooks', standard({ key: STANDARD_KEY }), 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
  ])('is accepted by the scheme %s', (scheme, headers, secret = SECRET) => {
    expect(signatureScheme(headers)).toBe(scheme);
    expect(isSigned({ headers, body: BODY }, [secret], NOW)).toBe(true);
    expect(isSigned({ headers, body: BODY }, ['the former secret', secret], NOW)).toBe(true);
    expect(isSigned({ headers, body: BODY }, ['another secret of it'], NOW)).toBe(false);
  });

  it('is accepted when it is the example of the documentation of GitHub', () => {
    const headers = { 'x-hub-signature-256': GITHUB.signature };
    expect(isSigned({ headers, body: GITHUB.body }, [GITHUB.secret], NOW)).toBe(true);
  });

  it.each<[what: string, headers: HookHeaders, body?: Buffer]>([
    ['has no signature', {}],
    ['has an empty one', { 'x-hub-signature-256': '' }],
    ['has a list instead of a text', { 'x-hub-signature-256': [`sha256=${hex(SECRET)}`] }],
    ['was signed for another body', { 'x-hub-signature-256': `sha256=${hex(SECRET)}` }, Buffer.from('{}')],
    ['has a part of the signature', { 'x-gitea-signature': hex(SECRET).slice(0, 63) }],
    ['has a part of the token', { 'x-gitlab-token': SECRET.slice(1) }],
    ['is older than five minutes', standard({ seconds: NOW.getTime() / 1000 - 301 })],
    ['is from the future', standard({ seconds: NOW.getTime() / 1000 + 301 })],
    ['has another time than the signed one', { ...standard(), 'webhook-timestamp': '1893499201' }],
    ['has a time that is not a number', { ...standard(), 'webhook-timestamp': '1e9' }],
    ['has another id than the signed one', { ...standard(), 'webhook-id': 'msg_2' }],
    ['has no id', standard({ id: '' })],
    [
      'has a valid weaker signature beside a wrong one',
      { ...standard(), 'webhook-signature': 'v1,x', 'x-gitlab-token': SECRET },
    ],
  ])('is refused when it %s', (_, headers, body = BODY) => {
    expect(isSigned({ headers, body }, [SECRET], NOW)).toBe(false);
  });
});
