/** Asks the HTTP API of the Defender in the name of the person, for people who may not act as the Defender. */
import { readFile } from 'node:fs/promises';
import { type Command, InvalidArgumentError } from 'commander';
import type { Identity } from '../../../kube/auth/credentials.ts';
import { textAt } from '../../../kube/objects/json.ts';
import { createHttpsTransport } from '../../../kube/transport/https.ts';
import type { HttpResponse } from '../../../kube/transport/transport.ts';
import { systemCode } from '../../../os/errors.ts';
import { type ConnectionFlags, loadConnection } from '../../connection.ts';
import { CliError, EXIT, type ExitCode } from '../../errors.ts';
import type { Io } from '../../io.ts';

export interface DefenderHttpFlags extends ConnectionFlags {
  readonly http?: string;
  readonly httpCa?: string;
}

/** Longer than an answer of the Defender takes while the API server is slow. */
const TIMEOUT_MS = 45_000;

export function addDefenderHttpOptions(command: Command): Command {
  return command
    .option('--http <url>', 'HTTP API of the Defender, instead of impersonation: uses your token', parseUrl)
    .option('--http-ca <file>', 'certificate authority of --http, PEM (default: those of this machine)');
}

function parseUrl(text: string): string {
  if (URL.canParse(text) && new URL(text).protocol === 'https:') return text.replace(/\/+$/, '');
  throw new InvalidArgumentError('Expected an address that begins with https://.');
}

/** The body of the answer 200. Rejects with what the Defender reported otherwise. */
export async function postToDefender(
  io: Io,
  { http: server = '', httpCa, ...flags }: DefenderHttpFlags,
  { path, body }: { readonly path: string; readonly body: object },
): Promise<unknown> {
  const identity = await readIdentity(io, flags, httpCa);
  const credentials = { current: () => Promise.resolve(identity), forget: () => undefined };
  const transport = createHttpsTransport({ server, credentials });
  try {
    const text = JSON.stringify(body);
    const request = { method: 'POST', path, body: text, contentType: 'application/json' } as const;
    const answer = await transport.request({ ...request, timeoutMs: TIMEOUT_MS, signal: io.signal });
    return readAnswer(server, answer);
  } finally {
    await transport.close();
  }
}

/** Only the token of the kubeconfig: its certificates are for the API server. */
async function readIdentity(io: Io, flags: ConnectionFlags, caFile: string | undefined): Promise<Identity> {
  const connection = await loadConnection(io, flags);
  const { authorization } = (await connection.credentials.current()).headers;
  if (typeof authorization !== 'string' || !authorization.startsWith('Bearer ')) {
    throw new CliError('the kubeconfig has no token: the HTTP API does not accept certificates', {
      hint: 'use a context with a token, or leave out --http and use the permission to impersonate kubenode-defender',
      exitCode: EXIT.badInput,
    });
  }
  const tls = caFile === undefined ? {} : { ca: await readAuthorityFile(caFile) };
  return { tls, headers: { authorization } };
}

export async function readAuthorityFile(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: unknown) => {
    throw new CliError(`the certificate authority cannot be read: ${systemCode(error) ?? 'unknown error'}`, {
      where: file,
      hint: 'pass a PEM file with --http-ca; docs/guides/http-api.md shows how to get it',
      exitCode: EXIT.badInput,
      cause: error,
    });
  });
}

const EXIT_CODES: Readonly<Record<number, ExitCode>> = {
  400: EXIT.badInput,
  401: EXIT.denied,
  403: EXIT.denied,
  404: EXIT.badInput,
  503: EXIT.unavailable,
};

export function readAnswer(server: string, { status, body }: Pick<HttpResponse, 'status' | 'body'>): unknown {
  const answer = parse(body);
  if (status === 200 && answer !== undefined) return answer;
  const message = textAt(answer, 'message') ?? `unexpected answer with status ${status}`;
  const leader = textAt(answer, 'leader');
  throw new CliError(message, {
    where: server,
    ...(leader === undefined ? {} : { hint: `ask the leader: ${leader}` }),
    exitCode: EXIT_CODES[status] ?? EXIT.failed,
  });
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return undefined;
  }
}
