/**
 * Pushes one new commit to one ref over http, without a local repository. The server compares the ref with what is expected, so a push
 * never overwrites what another pushed meanwhile: it is never forced.
 */
import { printableLine } from '../../../kube/objects/printable.ts';
import { truncate } from '../../../kube/objects/truncate.ts';
import { GitError } from '../errors.ts';
import { collectBody, createGitHttpClient } from '../http/client.ts';
import { GIT_LIMITS, type GitOptions } from '../options.ts';
import { parseRepository } from '../repository-url.ts';
import type { NewObject } from '../transport.ts';
import { packOf } from './pack.ts';
import { FLUSH, pktLine, readPktLines } from './pkt-lines.ts';

export interface PushRequest {
  readonly ref: string;
  /** The commit that the ref names now. Absent: there must be no such ref. */
  readonly expected?: string;
  readonly commit: string;
  readonly objects: readonly NewObject[];
}

export type PushOptions = Pick<GitOptions, 'repository' | 'credential' | 'tokens' | 'ca'>;

const SERVICE = 'receive-pack';
const NO_COMMIT = '0'.repeat(40);
/** The list of refs of 50,000 refs. */
const MAX_BYTES = 4 * 1024 * 1024;
/** A Lease is lost after 15 s at the earliest: another process pushes the same commit then, which changes nothing. */
const TIMEOUT_MS = 30_000;
const MAX_REASON = 200;

/** Rejects with a GitError. Without an answer the server may have accepted the commit: list the ref before the next attempt. */
export async function pushCommit(
  options: PushOptions,
  request: PushRequest,
  signal: AbortSignal,
): Promise<void> {
  const { scheme, url, display } = parseRepository(options.repository);
  if (scheme !== 'http') {
    throw new GitError('BadUrl', 'sync pushes over https only', {
      where: display,
      hint: 'set spec.source.repository to a URL that begins with https://, or spec.onFailure to Stop',
    });
  }
  const { repository: _, ...access } = options;
  const limits = { ...GIT_LIMITS, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES };
  const client = createGitHttpClient({ ...access, display, limits, service: SERVICE }, signal);
  const listed = await client.request({ url: `${url}/info/refs?service=git-${SERVICE}` });
  checkCapabilities(await textLines(listed.body, display), display);
  const headers = {
    'content-type': `application/x-git-${SERVICE}-request`,
    accept: `application/x-git-${SERVICE}-result`,
  };
  const answer = await client.request({
    url: `${url}/git-${SERVICE}`,
    method: 'POST',
    headers,
    body: bodyOf(request),
  });
  const refusal = refusalIn(await textLines(answer.body, display), request.ref);
  if (refusal === undefined) return;
  throw new GitError(
    'PushRefused',
    `the server does not accept ${request.commit} for ${request.ref}: ${refusal}`,
    {
      where: display,
      hint: 'permit the user of spec.source.writeCredentialsRef to push to it, or set spec.onFailure to Stop',
    },
  );
}

async function* bodyOf({ ref, expected, commit, objects }: PushRequest): AsyncGenerator<Uint8Array> {
  const command = `${expected ?? NO_COMMIT} ${commit} ${ref}\0 report-status agent=kubenode`;
  yield Buffer.from(`${pktLine(command)}${FLUSH}`);
  yield packOf(objects);
}

async function textLines(
  body: AsyncIterableIterator<Uint8Array> | undefined,
  display: string,
): Promise<readonly string[]> {
  const lines = readPktLines(await collectBody(body ?? []));
  if (lines) return lines;
  throw notUnderstood(display);
}

/** The first ref is followed by what the server can do. Without a report nothing tells whether it accepted the commit. */
function checkCapabilities(lines: readonly string[], display: string): void {
  const [, capabilities = ''] = lines.find((line) => line.includes('\0'))?.split('\0') ?? [];
  if (!/(^| )report-status( |$)/.test(capabilities)) throw notUnderstood(display);
}

/** Returns undefined if the server has the commit and moved the ref. */
function refusalIn(lines: readonly string[], ref: string): string | undefined {
  const [unpacked = 'no report', ...results] = lines;
  if (unpacked !== 'unpack ok') return printed(unpacked);
  if (results.includes(`ok ${ref}`)) return undefined;
  const refused = results.find((line) => line.startsWith(`ng ${ref} `));
  return printed(refused?.slice(`ng ${ref} `.length) ?? 'it reports nothing about the ref');
}

function printed(text: string): string {
  return truncate(printableLine(text), MAX_REASON);
}

function notUnderstood(where: string): GitError {
  return new GitError('Corrupt', 'the answer of the server to a push is not understood', {
    where,
    hint: 'sync tries again. If this persists, check the server and the proxies in front of it',
  });
}
