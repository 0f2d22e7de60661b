/** A refusal as the API documents it: status, code and message. */
export class EcsRefusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly retryAfter: string | undefined;

  constructor(status: number, code: string, message: string, retryAfter?: string) {
    super(message);
    this.status = status;
    this.code = code;
    this.retryAfter = retryAfter;
  }
}

/** The texts of the documentation of RunInstances, DeleteInstance, StopInstance, and of the common errors. */
export const REFUSALS = {
  noStock: () =>
    new EcsRefusal(
      403,
      'OperationDenied.NoStock',
      'The requested resource is sold out in the specified zone; try other types of resources or other regions and zones.',
    ),
  noInquiry: () =>
    new EcsRefusal(
      404,
      'InvalidEventId.NoInquiringEventFound',
      'The specified parameter EventId is not valid.',
    ),
  noRight: () =>
    new EcsRefusal(403, 'Forbidden.RAM', 'User not authorized to operate on the specified resource.'),
  throttled: () =>
    new EcsRefusal(400, 'Throttling.User', 'Request was denied due to user flow control.', '7'),
  unavailable: () =>
    new EcsRefusal(
      503,
      'ServiceUnavailable',
      'The request has failed due to a temporary failure of the server.',
    ),
  badType: () =>
    new EcsRefusal(
      400,
      'InvalidInstanceType.ValueNotSupported',
      'The specified InstanceType beyond the permitted range.',
    ),
  mismatch: () => new EcsRefusal(403, 'IdempotentParameterMismatch', 'The specified clientToken is used.'),
  missing: (name: string) =>
    new EcsRefusal(
      400,
      'MissingParameter',
      `The input parameter "${name}" that is mandatory for processing this request is not supplied.`,
    ),
  notFound: () =>
    new EcsRefusal(404, 'InvalidInstanceId.NotFound', 'The specified InstanceId does not exist.'),
  badStatus: () =>
    new EcsRefusal(
      403,
      'IncorrectInstanceStatus',
      'The current status of the resource does not support this operation.',
    ),
  dryRun: () =>
    new EcsRefusal(400, 'DryRunOperation', 'Request validation has been passed with DryRun flag set.'),
  noKey: () => new EcsRefusal(404, 'InvalidAccessKeyId.NotFound', 'Specified access key is not found.'),
  expired: () => new EcsRefusal(400, 'InvalidSecurityToken.Expired', 'Specified SecurityToken is expired.'),
} as const;
