/** Validates the bodies of requests with the schemas that OpenAPI describes. */
import { isRecord } from '../../kube/objects/json.ts';
import type { LedgerApproval, LedgerHolder } from '../generated/types.ts';
import type { GrantAsk, GrantRenewal, GrantSettlement } from '../grants.ts';
import { compileSchema, type SchemaCheck } from '../validation/schema-check.ts';
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
const compiled = new Map<RequestName, SchemaCheck>();

/** The body with its defaults, or everything that is wrong with it. */
export function readBodyOf<N extends RequestName>(name: N, body: unknown): BodyResult<RequestBodies[N]> {
  const check = compiled.get(name) ?? compileSchema(REQUESTS[name]);
  compiled.set(name, check);
  const value: unknown = isRecord(body) ? { ...body } : body;
  const problems = check(value);
  return problems.length > 0 ? { problems } : { body: value as RequestBodies[N] };
}
