/**
 * Converts errors of the APIs of Alibaba Cloud to errors of a provider. The codes are those of the pages of RunInstances, DeleteInstance,
 * StopInstance and StartInstance, and the common ones. Pure.
 */
import { type AnswerRules, type FailedAnswer, toAnswerError } from '../cloud/failures.ts';
import { isProviderError, type ProviderError } from '../contract.ts';

const CODES: AnswerRules['codes'] = [
  [/^InvalidInstanceId\.NotFound$/, 'NotFound'],
  [/^(Throttling|FlowControl)(\.|$)/, 'Retryable'],
  [
    /^(OperationDenied\.NoStock|Zone\.NotOnSale|InvalidResourceType\.NotSupported|ResourceNotAvailable)/,
    'Quota',
  ],
  [/^(QuotaExceed|QuotaNotEnough|LimitExceed|[A-Za-z]+LimitExceed)/, 'Quota'],
  [/^(InsufficientBalance|InvalidAccountStatus\.NotEnoughBalance|Account\.Arrearage)/, 'Quota'],
  [/^(InvalidAccessKeyId|InvalidSecurityToken|MissingSecurityToken)(\.|$)/, 'Auth'],
  [
    /^(SignatureDoesNotMatch|IncompleteSignature|InvalidTimeStamp|IllegalTimestamp|AuthenticationFail)/,
    'Auth',
  ],
  [/^(Forbidden|Forbbiden|Forbedden|NoPermission|UnauthorizedOperation|RegionUnauthorized)(\.|$)/, 'Auth'],
  [/^(InvalidUser\.Unauthorized|InvalidRamRole\.NotEcsRole)$/, 'Auth'],
  [/^(IncorrectInstanceStatus|IncorrectVSwitchStatus)(\.|$)/, 'Retryable'],
  [/^(OperationConflict|LastTokenProcessing|LastOrderProcessing|NodeControllerUnavailable)$/, 'Retryable'],
  [/^(IdempotentProcessing|Idempotence\.Processing)$/, 'Ambiguous'],
];

/** Any other refusal is final. Many have the status 403 or 404 and are about a parameter, not about rights or the instance. */
const REFUSAL: AnswerRules['codes'] = [[/./, 'Terminal']];
const WITH_MEANING: ReadonlySet<number> = new Set([401, 408, 429]);

export function toApiError(answer: FailedAnswer, rules: Omit<AnswerRules, 'codes'>): ProviderError {
  const { status, code } = answer;
  const isRefusal = status < 500 && !WITH_MEANING.has(status);
  return toAnswerError(
    { ...answer, message: publicMessage(answer) },
    { ...rules, codes: isRefusal ? [...CODES, ...REFUSAL] : code.startsWith('Status') ? [] : CODES },
  );
}

/** For a wrong signature the API quotes the whole request, in which the user data is. Other messages quote parameters. */
function publicMessage({ code, message }: FailedAnswer): string {
  if (code.startsWith('SignatureDoesNotMatch')) {
    return 'the secret of the access key is wrong. Check the credentials of kubenode controllers';
  }
  return message.replaceAll(/\S{64,}/g, '…');
}

/** Tells whether the API answered this code. */
export function isApiCode(error: unknown, code: string): boolean {
  return isProviderError(error) && error.reason.startsWith(code.replaceAll('.', ''));
}
