/** Validates the bodies of requests with the schemas that OpenAPI describes. */
import { Ajv, type ValidateFunction } from 'ajv';
import { isRecord } from '../../kube/objects/json.ts';
import type { LedgerApproval, LedgerHolder } from '../generated/types.ts';
import type { GrantAsk, GrantRenewal, GrantSettlement } from '../grants.ts';
import { ajvProblem } from '../validation/ajv-problem.ts';
import type { Problem } from '../validation/validate.ts';
import { REQUESTS, type RequestName } from './schemas.ts';

export interface AskBody extends Partial<Pick<GrantAsk, 'risk' | 'nodeUID' | 'faultClass' | 'started'>> {
  readonly machine: string;
  readonly action: GrantAsk['action'];
  readonly factsAt?: string;
  readonly expectedSeconds: number;
  readonly dryRun: boolean;
}

export interface ApproveBody extends Pick<LedgerApproval, 'decision'> {
  readonly machine: string;
  readonly reason: string;
  readonly action?: GrantAsk['action'];
  readonly holder?: Pick<LedgerHolder, 'kind' | 'name'>;
  readonly risk?: GrantAsk['risk'];
}

export interface RequestBodies {
  readonly Ask: AskBody;
  readonly Renew: Pick<GrantRenewal, 'id' | 'fence' | 'faultClass'>;
  readonly Settle: Pick<GrantSettlement, 'id' | 'fence' | 'outcome'>;
  readonly Approve: ApproveBody;
}

export type BodyResult<T> = { readonly body: T } | { readonly problems: readonly Problem[] };

/** Compiled at the first request. */
const compiled = new Map<RequestName, ValidateFunction>();

/** The body with its defaults, or everything that is wrong with it. */
export function readBodyOf<N extends RequestName>(name: N, body: unknown): BodyResult<RequestBodies[N]> {
  const validator = validatorOf(name);
  const value: unknown = isRecord(body) ? { ...body } : body;
  if (validator(value)) return { body: value as RequestBodies[N] };
  return { problems: (validator.errors ?? []).map((error) => ajvProblem(error)) };
}

function validatorOf(name: RequestName): ValidateFunction {
  const known = compiled.get(name);
  if (known) return known;
  const created = new Ajv({ allErrors: true, useDefaults: true, verbose: true }).compile(REQUESTS[name]);
  compiled.set(name, created);
  return created;
}
