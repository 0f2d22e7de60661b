/** Converts errors of EC2, of the SDK and of the network to errors of a provider. Pure. */
import { type AnswerRules, type LostAnswer, toAnswerError, toNetworkError } from '../cloud/failures.ts';
import { isProviderError, ProviderError } from '../contract.ts';

/** By the list of error codes in the EC2 API reference. Every other code of a refused request is Terminal. */
const CODES: AnswerRules['codes'] = [
  [/^Insufficient\w*(Capacity|Addresses\w*|Volume\w*)$|(Limit|Count)Exceeded$|^SpotMaxPriceTooLow$/, 'Quota'],
  [
    /^(AuthFailure|UnauthorizedOperation|ExpiredToken(Exception)?|RequestExpired|InvalidClientTokenId|SignatureDoesNotMatch|OptInRequired|MissingAuthenticationToken|UnrecognizedClient(Exception)?|AccessDenied(Exception)?|Blocked|PendingVerification)$/,
    'Auth',
  ],
  [/^InvalidInstanceID\.NotFound$/, 'NotFound'],
  [
    /^Throttling|Throttled(Exception)?$|^(IncorrectInstanceState|IncorrectState|InvalidNextToken|InvalidPaginationToken|ConcurrentRunInstances\w*)$/,
    'Retryable',
  ],
  // Another request with this token had other parameters: its instance exists, or is being created.
  [/^IdempotentParameterMismatch$/, 'Ambiguous'],
];

/** Its name ends as that of a limit, and it is about the rate of requests. */
const THROTTLED = /^(Request|Bandwidth)LimitExceeded$/;

/** Errors of the SDK before it sends anything: no credentials, no role, no token of a web identity. */
const NO_CREDENTIALS = /^(CredentialsProviderError|TokenProviderError|ProviderError)$/;

interface SdkError {
  readonly name: string;
  readonly message: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
  readonly $response?: { readonly headers?: Readonly<Record<string, string>> };
}

/** Never has the error of the SDK as its cause, which holds the request with the user data. */
export function toAwsError(error: unknown, lost: LostAnswer, now: Date): ProviderError {
  if (isProviderError(error)) return error;
  if (!isSdkError(error)) return toNetworkError(error, lost);
  const { name, message } = error;
  if (NO_CREDENTIALS.test(name)) {
    return new ProviderError('Auth', `no credentials: ${message}`, { reason: 'NoCredentials' });
  }
  const status = error.$metadata?.httpStatusCode ?? 0;
  // An answer that cannot be read has a status of success, or none.
  if (status < 400) return toNetworkError(error, lost);
  const answer = { status, code: name, message, retryAfter: retryAfterOf(error) };
  return toAnswerError(answer, { codes: [[THROTTLED, 'Retryable'], ...CODES], lost, now });
}

function retryAfterOf({ $response }: SdkError): string | undefined {
  return $response?.headers?.['retry-after'];
}

function isSdkError(error: unknown): error is SdkError {
  return error instanceof Error;
}
