/** A refusal as Azure Resource Manager documents it: status, code and message. */
import type { CloudAnswer } from '../../cloud/cloud-proxy.ts';

export class ArmRefusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: string, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

/** The texts of the pages about common errors, allocation failures and quotas. */
export const REFUSALS = {
  noStock: () =>
    new ArmRefusal(
      409,
      'SkuNotAvailable',
      "The requested VM size 'Standard_D4s_v5' is currently not available in location 'westeurope'. Please try another size or deploy to a different location or different zone.",
    ),
  noQuota: () =>
    new ArmRefusal(
      409,
      'OperationNotAllowed',
      'Operation could not be completed as it results in exceeding approved Total Regional Cores quota.',
    ),
  noRight: () =>
    new ArmRefusal(
      403,
      'AuthorizationFailed',
      "The client with object id does not have authorization to perform action 'Microsoft.Compute/virtualMachines/write' over scope.",
    ),
  throttled: () =>
    new ArmRefusal(429, 'TooManyRequests', 'The request is being throttled.', { 'retry-after': '7' }),
  unavailable: () => new ArmRefusal(503, 'ServiceUnavailable', 'The service is unavailable.'),
  noImage: () =>
    new ArmRefusal(
      404,
      'ImageNotFound',
      "The platform image 'debian:debian-12:12-gen2:latest' is not available.",
    ),
  busy: () =>
    new ArmRefusal(
      409,
      'OperationNotAllowed',
      'Operation is not allowed while the virtual machine is deleted.',
    ),
  exists: () =>
    new ArmRefusal(
      412,
      'PreconditionFailed',
      'The precondition given in the request header is not satisfied.',
    ),
  changed: () =>
    new ArmRefusal(
      409,
      'PropertyChangeNotAllowed',
      "Changing property 'osProfile.customData' is not allowed.",
    ),
  invalid: (field: string) =>
    new ArmRefusal(400, 'InvalidParameter', `Required parameter '${field}' is missing (null).`),
  noVersion: () =>
    new ArmRefusal(400, 'MissingApiVersionParameter', 'The api-version query parameter is required.'),
  noVm: (name: string) =>
    new ArmRefusal(
      404,
      'ResourceNotFound',
      `The Resource 'Microsoft.Compute/virtualMachines/${name}' under resource group 'nodes' was not found.`,
    ),
  noDeployment: (name: string) =>
    new ArmRefusal(404, 'DeploymentNotFound', `Deployment '${name}' could not be found.`),
  active: () =>
    new ArmRefusal(409, 'DeploymentActive', 'The deployment cannot be saved, because it is still active.'),
  noGroup: (name: string) =>
    new ArmRefusal(404, 'ResourceGroupNotFound', `Resource group '${name}' could not be found.`),
  badToken: () => new ArmRefusal(401, 'InvalidAuthenticationToken', 'The access token is invalid.'),
  expiredToken: () =>
    new ArmRefusal(
      401,
      'ExpiredAuthenticationToken',
      'The access token expiry UTC time is earlier than current UTC time.',
    ),
} as const;

export function refusalAnswer({ status, code, message, headers }: ArmRefusal): CloudAnswer {
  return jsonAnswer(status, { error: { code, message } }, headers);
}

export function jsonAnswer(
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): CloudAnswer {
  const type = { 'content-type': 'application/json; charset=utf-8' };
  return { status, headers: { ...type, ...headers }, body: JSON.stringify(body) };
}
