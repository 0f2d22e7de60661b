/** Refuses requests that no cloud can fulfil. Pure. */
import { UUID } from '../../api/patterns.ts';
import { type InstanceRequest, type InstanceShape, ProviderError, type ProviderKind } from '../contract.ts';

const IS_UID = new RegExp(UUID.regex);

/** In lower case: clouds compare tokens and names in different ways. */
export function isMachineUid(text: string): boolean {
  return IS_UID.test(text) && text === text.toLowerCase();
}

export function throwIfRefused(kind: ProviderKind, request: InstanceRequest): void {
  const { machineUid } = request.tags;
  if (!isMachineUid(machineUid)) {
    const message = `not the UID of a Machine: ${JSON.stringify(machineUid.slice(0, 300))}`;
    throw new ProviderError('Terminal', message, { reason: 'InvalidToken' });
  }
  const reason = instanceShapeReason(kind, request);
  if (reason !== undefined) throw new ProviderError('Terminal', reason, { reason: 'InvalidConfig' });
}

/** Returns why no instance of this shape can be created; undefined: it can be requested. */
export function instanceShapeReason(kind: ProviderKind, shape: InstanceShape): string | undefined {
  const reason = kind.configReason(shape);
  return reason ?? (kind.hasInstance(shape) ? undefined : 'spec.infra.config asks for no instance');
}

/** Returns the error for an id that the provider did not give. */
export function invalidIdError(provider: string, id: string): ProviderError {
  const message = `not an id of provider ${provider}: ${JSON.stringify(id.slice(0, 300))}`;
  return new ProviderError('Terminal', message, { reason: 'InvalidID' });
}

/** Returns the error for the UID of a Machine whose instance was deleted. */
export function deletedError(id: string): ProviderError {
  const message = `instance ${id} of this Machine was deleted, and its UID creates no other one`;
  return new ProviderError('Terminal', message, { reason: 'Deleted' });
}
