/** Reads pull requests from a git host, and writes plans to it. An answer that is an error rejects with PullHostError. */
import { optional } from '../../kube/objects/optional.ts';
import type { Clock } from '../../os/clock.ts';
import type { CommitStatus } from '../report/desired-statuses.ts';
import { GIT_HOST_ADAPTERS } from '../report/hosts/adapters.ts';
import {
  type HostTask,
  isDone,
  networkFailure,
  type SendFailure,
  sendFailure,
  statusTask,
} from '../report/outcome.ts';
import type { HostAnswer, HostRequest, SendOptions } from '../report/send.ts';
import type { StatusTarget } from '../report/target.ts';
import { HostTokenError, type HostTokens } from '../report/tokens/host-tokens.ts';
import { refusedTokenFailure } from '../report/tokens/refused-token.ts';
import { COMMENTS_PER_PAGE, type CommentText, type PullRequest, type PullTarget } from './hosts/adapter.ts';
import { PULL_ADAPTERS } from './hosts/adapters.ts';
import { commentId } from './hosts/entries.ts';

export class PullHostError extends Error {
  override readonly name = 'PullHostError';
  readonly failure: SendFailure;

  constructor(failure: SendFailure) {
    super(failure.message);
    this.failure = failure;
  }
}

export interface PullHostPorts {
  readonly send: (request: HostRequest, options: SendOptions) => Promise<HostAnswer>;
  readonly tokens: HostTokens;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Throws when this process must not write to the host any more. */
  readonly checkLease: () => void;
}

export interface PullList {
  readonly pulls: readonly PullRequest[];
  /** With it, the host answers only what changed since. */
  readonly etag?: string;
}

export interface PullHost {
  /** Lists the open pull requests for a branch. Undefined: nothing changed since the list with that tag. */
  list(branch: string, etag?: string): Promise<PullList | undefined>;
  /** Returns the id of the oldest comment that begins with the marker. */
  findComment(number: number, marker: string): Promise<string | undefined>;
  /** Writes a comment. Returns its id. */
  writeComment(text: CommentText): Promise<string>;
  setStatus(status: CommitStatus): Promise<void>;
}

/** A pull request with more comments before that of the plan gets a second one. */
const MAX_PAGES = 10;

export function createPullHost(target: StatusTarget, ports: PullHostPorts): PullHost {
  const { project, ca } = target;
  const adapter = PULL_ADAPTERS[project.type];
  const { permission } = adapter;
  const read: HostTask = { ...READ, permission };
  const write: HostTask = { ...WRITE, permission };

  return { list, findComment, writeComment, setStatus };

  async function list(branch: string, etag?: string): Promise<PullList | undefined> {
    const { status, body, headers } = await call((own) => adapter.listRequest(own, branch, etag), read);
    if (status === NOT_MODIFIED) return undefined;
    const tag = headers['etag'];
    return {
      pulls: adapter.pulls(parsed(body), branch),
      ...(typeof tag === 'string' && ETAG.test(tag) ? { etag: tag } : {}),
    };
  }

  async function findComment(number: number, marker: string): Promise<string | undefined> {
    for (let page = 1; page <= MAX_PAGES; page += 1) {
      const { body } = await call((own) => adapter.commentsRequest(own, number, page), read);
      const comments = adapter.comments(parsed(body));
      const found = comments.find((comment) => comment.body.startsWith(marker));
      if (found) return found.id;
      if (!adapter.isPaged || comments.length < COMMENTS_PER_PAGE) return undefined;
    }
    return undefined;
  }

  async function writeComment(text: CommentText): Promise<string> {
    const { body } = await call((own) => adapter.commentRequest(own, text), write);
    return commentId(parsed(body)) ?? '';
  }

  async function setStatus(status: CommitStatus): Promise<void> {
    const task = { ...statusTask(project), permission };
    await call(({ token }) => GIT_HOST_ADAPTERS[project.type].statusRequest(project, status, token), task);
  }

  async function call(build: (own: PullTarget) => HostRequest, task: HostTask): Promise<HostAnswer> {
    const { send, clock, signal, checkLease, tokens } = ports;
    checkLease();
    const token = await hostToken();
    // The host may have taken seconds to issue it.
    checkLease();
    const answer = await send(build({ project, token }), { clock, signal, ...optional('ca', ca) }).catch(
      (error: unknown) => {
        signal.throwIfAborted();
        throw new PullHostError(networkFailure(error, project, task));
      },
    );
    const failure = sendFailure(answer, project, { token, now: clock.now(), task });
    if (failure) throw new PullHostError(refusedTokenFailure(failure, token, tokens));
    return answer;
  }

  async function hostToken(): Promise<string> {
    try {
      return await ports.tokens.get(target, ports.signal);
    } catch (error) {
      throw error instanceof HostTokenError ? new PullHostError(error.failure) : error;
    }
  }
}

const NOT_MODIFIED = 304;
/** A tag is sent back in a header. */
const ETAG = /^(W\/)?"[\x21\x23-\x7e]{1,200}"$/;

const READ: Omit<HostTask, 'permission'> = {
  act: 'read the pull requests',
  what: 'the request for pull requests',
  retry: 'asks again',
  isAccepted: (answer) =>
    answer.status === NOT_MODIFIED || (answer.status === 200 && Array.isArray(parsed(answer.body))),
};

const WRITE: Omit<HostTask, 'permission'> = {
  act: 'comment on pull requests',
  what: 'the comment',
  retry: 'sends the comment again',
  isAccepted: (answer) => isDone(answer) && commentId(parsed(answer.body)) !== undefined,
};

/** Returns undefined for a text that is not JSON: the page of a proxy, or an answer that is too long. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
