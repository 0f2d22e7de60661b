/** Describes what every cloud is as a provider: its instances start with user data, cost requests, and are stopped by people and repairs. */
import type { InstanceShape, ProviderKind } from '../contract.ts';

/** Returns the kind of a cloud that announces events and switches power. An empty config asks for no instance. */
export function cloudKind(
  name: ProviderKind['name'],
  configReason: (shape: InstanceShape) => string | undefined,
): ProviderKind {
  return {
    name,
    capabilities: {
      power: true,
      events: true,
      // A person or a repair may have stopped an instance.
      startsStopped: false,
      bootstrapsOnce: true,
      countsRequests: true,
      listsLate: true,
    },
    hasInstance: (shape) => Object.keys(shape.config).length > 0,
    configReason,
    needsBootstrap: () => true,
    platformOf: () => ({ os: 'linux' }),
  };
}
