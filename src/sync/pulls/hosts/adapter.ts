/** Declares what differs between git hosts in their API of pull requests: one adapter for each of them. */
import type { HostAccess } from '../../report/call.ts';
import type { HostRequest } from '../../report/send.ts';

export interface PullRequest {
  readonly number: number;
  readonly head: string;
  /** Whether the branch is in another repository, whose authors may have no right in this one. */
  readonly isFork: boolean;
}

export interface HostComment {
  readonly id: string;
  readonly body: string;
}

export interface CommentText {
  readonly number: number;
  /** The comment that is replaced. Absent: a new one. */
  readonly comment?: string;
  readonly body: string;
}

export interface PullListPage {
  readonly branch: string;
  /** From 1. */
  readonly page: number;
  /** The tag of the page that is known. */
  readonly etag: string | undefined;
}

/** Builds the requests and reads the answers, which are JSON of unknown form: other entries than pull requests and comments are left out. */
export interface PullAdapter {
  /** Returns the request for one page of the open pull requests, those that changed last first. */
  listRequest(target: HostAccess, question: PullListPage): HostRequest;
  /** Returns the pull requests for the branch. */
  pulls(answer: unknown, branch: string): readonly PullRequest[];
  /** Returns the ref under which the host serves the head of a pull request. */
  ref(number: number): string;
  /** Returns the request for one page of comments, the oldest first. */
  commentsRequest(target: HostAccess, number: number, page: number): HostRequest;
  comments(answer: unknown): readonly HostComment[];
  /** Whether comments come in pages. */
  readonly isPaged: boolean;
  commentRequest(target: HostAccess, text: CommentText): HostRequest;
  /** The permissions that a token needs, for people. */
  readonly permission: string;
}

/** The most open pull requests that are planned: those that changed last. */
export const MAX_PULLS = 30;
export const COMMENTS_PER_PAGE = 100;

/** Gitea answers no more by default. */
export const PULLS_PER_PAGE = 50;
/** Each pull request of GitHub has 30 KB, and up to 256 KB of description; comments have up to 64 KB each. */
const LIST_BYTES = 16 * 1024 * 1024;

/** Returns the request for a list, which may be longer than other answers. */
export function listed(request: HostRequest, etag?: string): HostRequest {
  const headers = etag === undefined ? request.headers : { ...request.headers, 'if-none-match': etag };
  return { ...request, headers, maxBytes: LIST_BYTES };
}
