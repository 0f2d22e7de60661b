/**
 * The program of the git worker: fetches and reads one repository, whose content was written by others. Started by client.ts,
 * never imported.
 */
import { sendToParent, serveParent } from '../../../os/worker/worker-process.ts';
import { createBackend } from '../backend.ts';
import { GitError } from '../errors.ts';
import { createGitTransport } from '../repository.ts';
import type { GitBackend, GitTransport } from '../transport.ts';
import { receivedTokens } from './access.ts';
import {
  fieldsOf,
  type GitAccess,
  type GitAnswer,
  type GitCall,
  type GitMethod,
  type GitRequest,
} from './protocol.ts';

interface Call {
  readonly controller: AbortController;
  readonly answer: Promise<GitAnswer>;
}

const calls = new Map<number, Call>();
let backend: GitBackend | undefined;
let transport: GitTransport | undefined;
/** The last call brought it. Calls that run longer use it, too. */
let access: GitAccess | undefined;

serveParent((message) => receive(message as GitRequest), stop);

/** The parent has ended, or closes the repository. Ends the git commands, and removes the files for ssh. */
async function stop(): Promise<void> {
  for (const { controller } of calls.values()) controller.abort();
  await Promise.all([...calls.values()].map(({ answer }) => answer));
  await backend?.close();
}

function receive(request: GitRequest): void {
  if ('open' in request) {
    const { hasTokens, ...options } = request.open;
    backend = createBackend(hasTokens ? { ...options, tokens: receivedTokens(() => access) } : options);
    transport = createGitTransport(backend);
  } else if ('abort' in request) {
    calls.get(request.abort)?.controller.abort();
  } else {
    void serve(request);
  }
}

async function serve({ id, method, args, access: brought }: GitCall): Promise<void> {
  access = brought ?? access;
  const controller = new AbortController();
  const answer = answerTo(id, method, [...args, controller.signal]);
  calls.set(id, { controller, answer });
  await sendToParent(await answer);
  calls.delete(id);
}

async function answerTo(id: number, method: GitMethod, args: readonly unknown[]): Promise<GitAnswer> {
  try {
    if (!transport) throw new GitError('Aborted', 'the repository is not open');
    const work = transport[method] as (...all: readonly unknown[]) => Promise<unknown>;
    return { id, result: await work(...args) };
  } catch (error) {
    return { id, error: fieldsOf(error) };
  }
}
