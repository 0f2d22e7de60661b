/** Writes the answers of the Runtime SDK of Cluster API. Pure. */
import type { JsonPatchOperation } from '../../../../kube/controller/writes/declared-fields.ts';
import { HOOKS_API_VERSION, type HookName, handlerName, UPDATE_HOOKS } from './protocol.ts';

/** The most that Cluster API waits for an answer is 30 seconds. An answer needs two reads and one write. */
const TIMEOUT_SECONDS = 15;

export type HookResponse = Readonly<Record<string, unknown>> & { readonly status: 'Success' | 'Failure' };

export function discoveryAnswer(): HookResponse {
  const handlers = UPDATE_HOOKS.map((hook) => ({
    name: handlerName(hook),
    requestHook: { apiVersion: HOOKS_API_VERSION, hook },
    timeoutSeconds: TIMEOUT_SECONDS,
    // Ignored errors would count as "covers nothing", and replace machines.
    failurePolicy: 'Fail',
  }));
  return respond('Discovery', { status: 'Success', handlers });
}

/** Names what is covered: without a version not the version, without operations no file. */
export interface CoveredFields {
  readonly version?: string | undefined;
  readonly files: readonly JsonPatchOperation[];
}

type CoverHook = 'CanUpdateMachine' | 'CanUpdateMachineSet';

/** Undefined: nothing is covered. Objects that are not named have no change that is covered. */
export function coverAnswer(hook: CoverHook, covered: CoveredFields | undefined): HookResponse {
  if (covered === undefined) return respond(hook, { status: 'Success' });
  const { version, files } = covered;
  const versionPatch = version === undefined ? {} : patchOfVersion(hook, version);
  return respond(hook, { status: 'Success', ...versionPatch, ...patchOfFiles(hook, files) });
}

function patchOfVersion(hook: CoverHook, version: string): object {
  const spec = { spec: { version } };
  return hook === 'CanUpdateMachine'
    ? { machinePatch: mergePatch(spec) }
    : { machineSetPatch: mergePatch({ spec: { template: spec } }) };
}

function patchOfFiles(hook: CoverHook, files: readonly JsonPatchOperation[]): object {
  if (files.length === 0) return {};
  return hook === 'CanUpdateMachine'
    ? { bootstrapConfigPatch: jsonPatch(files) }
    : { bootstrapConfigTemplatePatch: jsonPatch(files) };
}

export function failureAnswer(hook: HookName, message: string): HookResponse {
  return respond(hook, {
    status: 'Failure',
    message,
    ...(hook === 'UpdateMachine' ? { retryAfterSeconds: 0 } : {}),
  });
}

/** `retryAfterSeconds` 0: the update is complete. */
export function progressAnswer(message: string, retryAfterSeconds: number): HookResponse {
  return respond('UpdateMachine', { status: 'Success', message, retryAfterSeconds });
}

/** The contract has patches as bytes, which are base64 in JSON. */
function mergePatch(patch: object): object {
  return { patchType: 'JSONMergePatch', patch: bytes(patch) };
}

/** Names single entries of a list, which a merge patch cannot. */
function jsonPatch(patch: readonly JsonPatchOperation[]): object {
  return { patchType: 'JSONPatch', patch: bytes(patch) };
}

/** Also content that is not ASCII. */
function bytes(patch: object): string {
  return Buffer.from(JSON.stringify(patch)).toString('base64');
}

function respond(hook: HookName, fields: HookResponse): HookResponse {
  return { apiVersion: HOOKS_API_VERSION, kind: `${hook}Response`, ...fields };
}
