/** Reads pull requests from a git host, and writes plans to it. An answer that is an error rejects with HostCallError. */
import { createHostCall, type HostCallPorts, parsedAnswer as parsed } from '../report/call.ts';
import type { CommitStatus } from '../report/desired-statuses.ts';
import { GIT_HOST_ADAPTERS } from '../report/hosts/adapters.ts';
import { type HostTask, isDone, statusTask } from '../report/outcome.ts';
import type { StatusTarget } from '../report/target.ts';
import { COMMENTS_PER_PAGE, type CommentText, type PullRequest } from './hosts/adapter.ts';
import { PULL_ADAPTERS } from './hosts/adapters.ts';
import { commentId } from './hosts/entries.ts';
import { countedPages, nextPage, type PullPage, pullsOn } from './pages.ts';

export interface PullList {
  /** Those that may be planned: of the team, then of forks, each with those that changed last first. */
  readonly pulls: readonly PullRequest[];
  readonly pages: readonly PullPage[];
  /** The number of the page that was read last: the next list is read on from there. */
  readonly readTo: number;
}

export interface PullListQuestion {
  /** The branch that pull requests are for. */
  readonly branch: string;
  /** Whether pull requests from forks are planned. */
  readonly forks: boolean;
}

export interface PullHost {
  /** Lists open pull requests. Pages that did not change, or that are not read now, are taken from the list before. */
  list(question: PullListQuestion, before?: PullList): Promise<PullList>;
  /** Returns the id of the oldest comment that begins with the marker. */
  findComment(number: number, marker: string): Promise<string | undefined>;
  /** Writes a comment. Returns its id. */
  writeComment(text: CommentText): Promise<string>;
  setStatus(status: CommitStatus): Promise<void>;
}

/** A pull request with more comments before that of the plan gets a second one. */
const MAX_PAGES = 10;

export function createPullHost(target: StatusTarget, ports: HostCallPorts): PullHost {
  const { project } = target;
  const adapter = PULL_ADAPTERS[project.type];
  const { permission } = adapter;
  const read: HostTask = { ...READ, permission };
  const write: HostTask = { ...WRITE, permission };
  const call = createHostCall(target, ports);

  return { list, findComment, writeComment, setStatus };

  async function list({ branch, forks }: PullListQuestion, before?: PullList): Promise<PullList> {
    let pages = before?.pages ?? [];
    const numbers: number[] = [];
    const next = (): number | undefined => nextPage({ pages, read: numbers, after: before?.readTo ?? 0 });
    for (let page = next(); page !== undefined; page = next()) {
      const found = await readPage(branch, page, pages[page - 1] ?? NO_PAGE);
      pages = countedPages([...pages.slice(0, page - 1), found, ...pages.slice(page)]);
      numbers.push(page);
    }
    return { pulls: pullsOn(pages, forks), pages, readTo: numbers.at(-1) ?? 0 };
  }

  async function readPage(branch: string, page: number, before: PullPage): Promise<PullPage> {
    const question = { branch, page, etag: before.etag };
    const { status, body, headers } = await call((own) => adapter.listRequest(own, question), read);
    if (status === NOT_MODIFIED) return before;
    const tag = headers['etag'];
    return {
      pulls: adapter.pulls(parsed(body), branch),
      hasNext: NEXT.test([headers['link'] ?? ''].flat().join()),
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
}

const NOT_MODIFIED = 304;
/** A host that answers "not modified" without having been asked for changes has no list for us. */
const NO_PAGE: PullPage = { pulls: [], hasNext: false };
/** All three hosts name the next page in a header. Its address is not used: the token is sent to the API of the Pipeline. */
const NEXT = /;\s*rel="?next"?/i;
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
