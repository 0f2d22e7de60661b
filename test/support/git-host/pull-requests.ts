/** The pull requests of the stand-in, with their comments, as GitHub and GitLab document them. Must not import vitest. */
import { createHash } from 'node:crypto';

export interface StandInPull {
  readonly number: number;
  head: string;
  isOpen: boolean;
  readonly isFork?: boolean;
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
    if (method === 'GET' && LIST.test(url)) return list(request);
    const pull = numberIn(OF_PULL, url);
    if (pull !== undefined && method === 'GET') return page(pull, url);
    if (pull !== undefined && method === 'POST') return create(pull, textIn(request));
    const id = numberIn(ONE, url);
    return id === undefined ? undefined : update(id, textIn(request));
  }

  function list({ url, etag }: StandInRequest): StandInAnswer {
    const open = pulls.filter(({ isOpen }) => isOpen);
    const query = new URLSearchParams(url.split('?')[1]);
    const [size, index] = [Number(query.get('per_page') ?? 30), Number(query.get('page') ?? 1)];
    const shown = open.slice((index - 1) * size, index * size);
    const found = shown.map(url.startsWith('/api/v3/') ? githubPull : gitlabPull);
    const next =
      open.length > index * size ? { link: `<https://evil.example.com/?page=${index + 1}>; rel="next"` } : {};
    const tag = `W/"${createHash('sha256').update(JSON.stringify(found)).digest('hex')}"`;
    if (tag === etag) return { status: 304, json: undefined };
    return { status: 200, json: found, headers: { etag: tag, ...next } };
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

function githubPull({ number, head, isFork = false }: StandInPull): object {
  const repo = { id: isFork ? 2 : 1 };
  return { number, head: { sha: head, repo }, base: { ref: 'main', repo: { id: 1 } } };
}

function gitlabPull({ number, head, isFork = false }: StandInPull): object {
  const projects = { source_project_id: isFork ? 2 : 1, target_project_id: 1 };
  return { iid: number, sha: head, target_branch: 'main', ...projects };
}

function numberIn(pattern: RegExp, url: string): number | undefined {
  const { github, gitlab } = pattern.exec(url)?.groups ?? {};
  const found = github ?? gitlab;
  return found === undefined ? undefined : Number(found);
}

function textIn({ body }: StandInRequest): string {
  return (JSON.parse(body) as { body: string }).body;
}
