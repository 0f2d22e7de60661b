/**
 * Converts errors of Azure Resource Manager to errors of a provider. The codes are those of its pages about common errors, and of the pages
 * about allocation failures and quotas of virtual machines. Pure.
 */
import { type AnswerRules, type FailedAnswer, toAnswerError } from '../cloud/failures.ts';
import { isProviderError, ProviderError } from '../contract.ts';

const CODES: AnswerRules['codes'] = [
  [/^ResourceNotFound$/, 'NotFound'],
  [/^(SkuNotAvailable|(Overconstrained)?(Zonal)?Allocation(Failed|Request))$/, 'Quota'],
  [/^((Resource)?QuotaExceeded|DeploymentQuotaExceeded|SubnetIsFull|[A-Za-z]+LimitExceeded)$/, 'Quota'],
  [/^(InvalidAuthenticationToken\w*|ExpiredAuthenticationToken|AuthenticationFailed)$/, 'Auth'],
  [/^(AuthorizationFailed|LinkedAuthorizationFailed|LinkedAccessCheckFailed)$/, 'Auth'],
  [/^(SubscriptionNotFound|InvalidSubscriptionId|ReadOnlyDisabledSubscription|DisallowedProvider)$/, 'Auth'],
  [/^(ScopeLocked|RequestDisallowedByPolicy|MissingSubscriptionRegistration)$/, 'Terminal'],
  [/^(TooManyRequests|SubscriptionRequestsThrottled|RetryableError\w*|ServerTimeout)$/, 'Retryable'],
];

/** Refusals that end by themselves: another operation is under way, or the resource is being made. */
const BUSY =
  /^(Conflict\w*|OperationNotAllowed|AnotherOperationInProgress|NicReservedForAnotherVm|DeploymentActive)$/;
/** Any other refusal is final. One of 404 may be about the resource group: it must not look like a missing instance. */
const REFUSAL: AnswerRules['codes'] = [
  [BUSY, 'Retryable'],
  [/./, 'Terminal'],
];
const WITH_MEANING: ReadonlySet<number> = new Set([401, 408, 429]);
/** The code of an answer that has none. */
const NO_CODE = /^Status\d+$/;

export function toArmError(answer: FailedAnswer, rules: Omit<AnswerRules, 'codes'>): ProviderError {
  const message = answer.message.replaceAll(/\S{200,}/g, '…');
  return toAnswerError({ ...answer, message }, { ...rules, codes: codesFor(answer) });
}

function codesFor({ status, code }: FailedAnswer): AnswerRules['codes'] {
  if (NO_CODE.test(code)) return status === 404 ? [[/./, 'Retryable']] : [];
  return status < 500 && !WITH_MEANING.has(status) ? [...CODES, ...REFUSAL] : CODES;
}

/** Tells whether Azure refused because something else is under way at the resource. */
export function isBusy(error: unknown): boolean {
  return isProviderError(error, 'Retryable') && BUSY.test(error.reason);
}

/** Tells whether Azure answered this code. */
export function isArmCode(error: unknown, code: string): boolean {
  return isProviderError(error) && error.reason === code;
}

/**
 * Returns the meaning of an error for a creation. What was not found is the image or the subnet, never the instance; and an operation that is
 * not allowed is one beyond a quota.
 */
export function toCreationError(error: ProviderError): ProviderError {
  const { code, message, reason } = error;
  if (code === 'NotFound') return new ProviderError('Terminal', message, { reason });
  return reason === 'OperationNotAllowed' ? new ProviderError('Quota', message, { reason }) : error;
}
