/** Declares what differs between git hosts: one adapter for each API. */
import type { CommitStatus } from '../desired-statuses.ts';
import type { GitHostProject } from '../git-host.ts';
import type { HostAnswer, HostRequest } from '../send.ts';

export interface GitHostAdapter {
  /** Returns the base URL of the API of a host. */
  apiUrl(base: string): string;
  /** Returns a request with the headers that the host needs; with a body it sends JSON. */
  request(token: string, call: GitHostCall): HostRequest;
  /** Returns the request that sets the status of a commit. To send it again changes nothing. */
  statusRequest(project: GitHostProject, status: CommitStatus, token: string): HostRequest;
  /** Tells whether an answer that is an error means that the host has a status of this state already. */
  hasState(answer: HostAnswer): boolean;
  /** The permission that a token needs, for people. */
  readonly permission: string;
}

export interface GitHostCall extends Pick<HostRequest, 'method' | 'url'> {
  readonly body?: object;
}

/** Returns a request with a JSON body, if any. */
export function jsonRequest({ method, url, body }: GitHostCall, authorization: string): HostRequest {
  const headers = { accept: 'application/json', authorization };
  if (!body) return { method, url, headers };
  return {
    method,
    url,
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  };
}

/** Returns the path with each segment encoded, so that no name ends or leaves it. */
export function encodePath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}
