/** The OpenAPI description of the HTTP API of the Defender, from the schemas that validate its requests. Pure. */
import { VERSION } from '../version.ts';
import { ANSWERS, type AnswerName, REQUESTS, type RequestName, reference } from './schemas.ts';

export interface HttpOperation {
  readonly path: string;
  readonly request: RequestName;
  readonly summary: string;
  /** By status. */
  readonly answers: Readonly<Record<string, readonly AnswerName[]>>;
}

export const OPENAPI_PATH = '/v1/openapi.json';

const ASKED = { 409: ['Denial'], 503: ['Denial', 'Problem'] } as const;

export const OPERATIONS: readonly HttpOperation[] = [
  {
    path: '/v1/ask',
    request: 'Ask',
    summary: 'Ask for a grant. Asking again returns the grant that exists.',
    answers: { 200: ['Grant', 'Allowance'], ...ASKED },
  },
  {
    path: '/v1/renew',
    request: 'Renew',
    summary: 'Extend a grant before the next disruptive step.',
    answers: { 200: ['Grant'], ...ASKED },
  },
  {
    path: '/v1/settle',
    request: 'Settle',
    summary: 'End a grant when the act is over.',
    answers: { 200: ['Settled'], ...ASKED },
  },
  {
    path: '/v1/approve',
    request: 'Approve',
    summary: 'Approve or refuse an act that waits for the answer of a person.',
    answers: { 200: ['Answered'], 404: ['Problem'], 409: ['Problem'], 503: ['Denial', 'Problem'] },
  },
];

const PROBLEMS: Readonly<Record<string, string>> = {
  400: 'The body is invalid.',
  401: 'The token is missing or not accepted.',
  403: 'The caller does not have the permission.',
  408: 'The request was not complete in time.',
  413: 'The body is too large.',
  429: 'Too many requests: wait as Retry-After states.',
};

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  200: 'Done.',
  404: 'The machine is unknown, or nothing waits.',
  409: 'Denied: the body names the reason.',
  503: 'Not decided: the API server, the ledger or the leader is not available. This is never a grant.',
};

export function openApiDocument(): object {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Kube Defender',
      version: VERSION,
      description: 'Permission for disruptive acts on machines: one ledger for all of them.',
    },
    security: [{ token: [] }],
    paths: Object.fromEntries(OPERATIONS.map((operation) => [operation.path, { post: describe(operation) }])),
    components: {
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description: 'A Kubernetes token for the audience kubenode-defender.',
        },
      },
      schemas: { ...REQUESTS, ...ANSWERS },
    },
  };
}

function describe({ request, summary, answers }: HttpOperation): object {
  const problems = Object.fromEntries(
    Object.entries(PROBLEMS).map(([status, description]) => [status, response(description, ['Problem'])]),
  );
  const own = Object.fromEntries(
    Object.entries(answers).map(([status, names]) => [status, response(DESCRIPTIONS[status] ?? '', names)]),
  );
  return {
    operationId: request.toLowerCase(),
    summary,
    requestBody: { required: true, content: { 'application/json': { schema: reference(request) } } },
    responses: { ...problems, ...own },
  };
}

function response(description: string, names: readonly AnswerName[]): object {
  const schemas = names.map(reference);
  const schema = schemas.length === 1 ? schemas[0] : { anyOf: schemas };
  return { description, content: { 'application/json': { schema } } };
}
