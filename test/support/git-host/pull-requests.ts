/** The pull requests of the stand-in, with their comments, as GitHub and GitLab document them. Must not import vitest. */
import { createHash } from 'node:crypto';

export interface StandInPull {
  readonly number: number;
  head: string;
  isOpen: boolean;
  readonly isFork?: boolean;
  readonly branch?: string;
  readonly title?: string;
  readonly body?: string;
}

export interface StandInComment {
  readonly id: number;
  readonly pull: number;
  body: string;
}

export interface StandInAnswer {
  readonly status: number;
  readonly json: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface StandInPulls {
  readonly pulls: StandInPull[];
  readonly comments: StandInComment[];
  /** Returns undefined for a path that is not one of pull requests. */
  answer(request: StandInRequest): StandInAnswer | undefined;
}

export interface StandInRequest {
  readonly method: string;
  readonly url: string;
  readonly etag: string | undefined;
  readonly body: string;
}

const LIST = /^\/api\/v3\/repos\/acme\/fleet\/pulls\?|^\/api\/v4\/projects\/acme%2Ffleet\/merge_requests\?/;
const NEW = /^\/api\/v3\/repos\/acme\/fleet\/pulls$|^\/api\/v4\/projects\/acme%2Ffleet\/merge_requests$/;
const OF_PULL =
  /^\/api\/v3\/repos\/acme\/fleet\/issues\/(?<github>\d+)\/comments|^\/api\/v4\/projects\/acme%2Ffleet\/merge_requests\/(?<gitlab>\d+)\/notes(?!\/)/;
const ONE =
  /^\/api\/v3\/repos\/acme\/fleet\/issues\/comments\/(?<github>\d+)$|^\/api\/v4\/projects\/acme%2Ffleet\/merge_requests\/\d+\/notes\/(?<gitlab>\d+)$/;
const PAGE = 100;

export function createStandInPulls(): StandInPulls {
  const pulls: StandInPull[] = [];
  const comments: StandInComment[] = [];
  let lastId = 100;
  return { pulls, comments, answer };

  function answer(request: StandInRequest): StandInAnswer | undefined {
    const { method, url } = request;
    if (LIST.test(url)) return list(request);
    if (NEW.test(url)) return open(request);
    const pull = numberIn(OF_PULL, url);
    if (pull !== undefined && method === 'GET') return page(pull, url);
    if (pull !== undefined && method === 'POST') return create(pull, textIn(request));
    return answerOfComment(request);
  }

  function answerOfComment(request: StandInRequest): StandInAnswer | undefined {
    const id = numberIn(ONE, request.url);
    return id === undefined ? undefined : update(id, textIn(request));
  }

  function list({ url, etag }: StandInRequest): StandInAnswer {
    const query = new URLSearchParams(url.split('?')[1]);
    const branch = query.get('head')?.split(':')[1] ?? query.get('source_branch');
    const listed = pulls
      .filter((pull) => query.get('state') === 'all' || pull.isOpen)
      .filter((pull) => branch === null || pull.branch === branch);
    const [size, index] = [Number(query.get('per_page') ?? 30), Number(query.get('page') ?? 1)];
    const shown = listed.slice((index - 1) * size, index * size);
    const found = shown.map(url.startsWith('/api/v3/') ? githubPull : gitlabPull);
    const next =
      listed.length > index * size
        ? { link: `<https://evil.example.com/?page=${index + 1}>; rel="next"` }
        : {};
    const tag = `W/"${createHash('sha256').update(JSON.stringify(found)).digest('hex')}"`;
    if (tag === etag) return { status: 304, json: undefined };
    return { status: 200, json: found, headers: { etag: tag, ...next } };
  }

  /** A host has one open pull request of a branch at most. */
  function open({ url, body }: StandInRequest): StandInAnswer {
    const sent = JSON.parse(body) as Record<string, string>;
    const branch = sent['head'] ?? sent['source_branch'] ?? '';
    if (pulls.some((pull) => pull.isOpen && pull.branch === branch)) {
      return { status: 422, json: { message: 'Validation Failed' } };
    }
    const text = { title: sent['title'] ?? '', body: sent['body'] ?? sent['description'] ?? '' };
    const pull = { number: pulls.length + 1, head: 'c'.repeat(40), isOpen: true, branch, ...text };
    pulls.push(pull);
    return { status: 201, json: url.startsWith('/api/v3/') ? githubPull(pull) : gitlabPull(pull) };
  }

  function page(pull: number, url: string): StandInAnswer {
    const from = (Number(new URLSearchParams(url.split('?')[1]).get('page') ?? 1) - 1) * PAGE;
    const own = comments.filter((comment) => comment.pull === pull);
    return { status: 200, json: own.slice(from, from + PAGE) };
  }

  function create(pull: number, body: string): StandInAnswer {
    lastId += 1;
    const comment = { id: lastId, pull, body };
    comments.push(comment);
    return { status: 201, json: { ...comment } };
  }

  function update(id: number, body: string): StandInAnswer {
    const comment = comments.find((each) => each.id === id);
    if (!comment) return { status: 404, json: { message: 'Not Found' } };
    comment.body = body;
    return { status: 200, json: { ...comment } };
  }
}

function githubPull({ number, head, branch, isFork = false }: StandInPull): object {
  const repo = { id: isFork ? 2 : 1 };
  const html_url = `https://git.example.com/acme/fleet/pull/${number}`;
  return { number, html_url, head: { sha: head, ref: branch, repo }, base: { ref: 'main', repo: { id: 1 } } };
}

function gitlabPull({ number, head, branch, isFork = false }: StandInPull): object {
  const projects = { source_project_id: isFork ? 2 : 1, target_project_id: 1 };
  const web_url = `https://git.example.com/acme/fleet/-/merge_requests/${number}`;
  return { iid: number, web_url, sha: head, source_branch: branch, target_branch: 'main', ...projects };
}

function numberIn(pattern: RegExp, url: string): number | undefined {
  const { github, gitlab } = pattern.exec(url)?.groups ?? {};
  const found = github ?? gitlab;
  return found === undefined ? undefined : Number(found);
}

function textIn({ body }: StandInRequest): string {
  return (JSON.parse(body) as { body: string }).body;
}
