/** Reads pull requests from a git host, and writes plans to it. An answer that is an error rejects with HostCallError. */
import { createHostCall, type HostCallPorts, parsedAnswer as parsed } from '../report/call.ts';
import type { CommitStatus } from '../report/desired-statuses.ts';
import { GIT_HOST_ADAPTERS } from '../report/hosts/adapters.ts';
import { type HostTask, isDone, statusTask } from '../report/outcome.ts';
import type { StatusTarget } from '../report/target.ts';
import { COMMENTS_PER_PAGE, type CommentText, type PullRequest } from './hosts/adapter.ts';
import { PULL_ADAPTERS } from './hosts/adapters.ts';
import { commentId } from './hosts/entries.ts';

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

export function createPullHost(target: StatusTarget, ports: HostCallPorts): PullHost {
  const { project, token } = target;
  const adapter = PULL_ADAPTERS[project.type];
  const { permission } = adapter;
  const read: HostTask = { ...READ, permission };
  const write: HostTask = { ...WRITE, permission };
  const call = createHostCall(target, ports);

  return { list, findComment, writeComment, setStatus };

  async function list(branch: string, etag?: string): Promise<PullList | undefined> {
    const { status, body, headers } = await call(adapter.listRequest(target, branch, etag), read);
    if (status === NOT_MODIFIED) return undefined;
    const tag = headers['etag'];
    return {
      pulls: adapter.pulls(parsed(body), branch),
      ...(typeof tag === 'string' && ETAG.test(tag) ? { etag: tag } : {}),
    };
  }

  async function findComment(number: number, marker: string): Promise<string | undefined> {
    for (let page = 1; page <= MAX_PAGES; page += 1) {
      const { body } = await call(adapter.commentsRequest(target, number, page), read);
      const comments = adapter.comments(parsed(body));
      const found = comments.find((comment) => comment.body.startsWith(marker));
      if (found) return found.id;
      if (!adapter.isPaged || comments.length < COMMENTS_PER_PAGE) return undefined;
    }
    return undefined;
  }

  async function writeComment(text: CommentText): Promise<string> {
    const { body } = await call(adapter.commentRequest(target, text), write);
    return commentId(parsed(body)) ?? '';
  }

  async function setStatus(status: CommitStatus): Promise<void> {
    const task = { ...statusTask(project), permission };
    await call(GIT_HOST_ADAPTERS[project.type].statusRequest(project, status, token), task);
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
