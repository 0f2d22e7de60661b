/**
 * The HTTP API of the Defender for other tools and people: each request is authenticated and authorized by the API server, and
 * decided by the process that leads. Whatever fails, the answer is not a grant.
 */
import { OPENAPI_PATH, OPERATIONS, openApiDocument } from '../../api/http/openapi.ts';
import { readBodyOf } from '../../api/http/requests.ts';
import type { RequestName } from '../../api/http/schemas.ts';
import type { Log } from '../../kube/process/log.ts';
import type { Clock } from '../../os/clock.ts';
import { type HttpDefender, RUNS } from './operations.ts';
import { type ApiAnswer, HttpProblem, problemAnswer } from './problem.ts';
import { createRateLimit } from './rate-limits.ts';
import { type Caller, createReviews, type ReviewOptions } from './reviews.ts';

export interface HttpApiOptions extends Pick<ReviewOptions, 'client' | 'audiences'> {
  readonly defender: HttpDefender;
  readonly clock: Clock;
  readonly log: Log;
  readonly leads: () => boolean;
  /** Holder of the Lease, as last observed. */
  readonly leader: () => string | undefined;
  readonly limits?: HttpLimits;
}

export interface HttpLimits {
  /** Requests of one caller; 20 a second by default, twice as many at once. */
  readonly perCaller: number;
  /** Tokens from one address that are reviewed, so that a flood of them does not reach the API server. */
  readonly perAddress: number;
  /** Requests that are decided at the same time. */
  readonly inFlight: number;
}

export interface ApiRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly authorization: string | undefined;
  readonly address: string;
  /** Rejects with BodyTooLarge. */
  readonly readBody: () => Promise<string>;
}

export interface HttpApi {
  handle(request: ApiRequest): Promise<ApiAnswer>;
}

const LIMITS: HttpLimits = { perCaller: 20, perAddress: 20, inFlight: 200 };
const ROUTES: ReadonlyMap<string, RequestName> = new Map(
  OPERATIONS.map(({ path, request }) => [path, request] as const),
);

export function createHttpApi(options: HttpApiOptions): HttpApi {
  const { defender, clock, log, limits = LIMITS } = options;
  const reviews = createReviews(options);
  const rate = (what: string, perSecond: number): ReturnType<typeof createRateLimit> =>
    createRateLimit({ clock, perSecond, burst: perSecond * 2, what });
  const perCaller = rate('requests of', limits.perCaller);
  const perAddress = rate('tokens from', limits.perAddress);
  let inFlight = 0;

  return { handle };

  async function handle(request: ApiRequest): Promise<ApiAnswer> {
    try {
      if (request.path === OPENAPI_PATH) return describe(request);
      const name = ROUTES.get(request.path);
      if (!name) throw new HttpProblem('NotFound', `unknown path. Paths: ${[...ROUTES.keys()].join(', ')}`);
      if (request.method !== 'POST') throw new HttpProblem('MethodNotAllowed', 'only POST is allowed');
      return await decide(request, name);
    } catch (error) {
      if (!(error instanceof HttpProblem)) log.warn('request not decided', { path: request.path, error });
      return problemAnswer(error);
    }
  }

  async function decide(request: ApiRequest, name: RequestName): Promise<ApiAnswer> {
    const token = readToken(request.authorization);
    if (!reviews.isKnown(token)) perAddress.check(request.address);
    const caller = await reviews.authenticate(token);
    perCaller.check(caller.name);
    checkLeading(options);
    const body = readJson(name, await request.readBody());
    return await admit(() => perform(name, caller, body));
  }

  async function perform(name: RequestName, caller: Caller, body: unknown): Promise<ApiAnswer> {
    const { resource, run } = RUNS[name];
    await reviews.authorize(caller, resource);
    // The schema of this name was checked.
    return await run({ defender, clock, caller }, body as never);
  }

  /** Counts what is decided, not what is still received: a slow client takes no place. */
  async function admit(work: () => Promise<ApiAnswer>): Promise<ApiAnswer> {
    if (inFlight >= limits.inFlight) {
      throw new HttpProblem('Busy', `${inFlight} requests are being decided`, { retryAfterSeconds: 1 });
    }
    inFlight += 1;
    try {
      return await work();
    } finally {
      inFlight -= 1;
    }
  }
}

/** Only the leader: it alone hears all asks, and its ledger port decides them in one batch. */
function checkLeading({ leads, leader }: HttpApiOptions): void {
  if (leads()) return;
  const name = leader();
  throw new HttpProblem('NotLeader', `this process does not lead; ${name ?? 'no process'} does`, {
    leader: name,
    retryAfterSeconds: 2,
  });
}

function describe({ method }: ApiRequest): ApiAnswer {
  if (method !== 'GET') throw new HttpProblem('MethodNotAllowed', 'only GET is allowed');
  return { status: 200, body: openApiDocument() };
}

function readToken(authorization: string | undefined): string {
  const token = /^Bearer (?<token>[\w.~+/=-]{1,8192})$/i.exec(authorization ?? '')?.groups?.['token'];
  if (token) return token;
  throw new HttpProblem(
    'Unauthorized',
    'send a Kubernetes token in the header Authorization: Bearer <token>',
  );
}

function readJson(name: RequestName, text: string): unknown {
  const found = readBodyOf(name, parse(text));
  if ('body' in found) return found.body;
  const problems = found.problems.map(({ path, message }) => `${path || 'body'}: ${message}`);
  throw new HttpProblem('BodyInvalid', problems.slice(0, 10).join('; '));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new HttpProblem('BodyInvalid', 'the body is not JSON');
  }
}
