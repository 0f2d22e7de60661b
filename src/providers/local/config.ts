/** Reads `spec.infra.config` of provider local. Pure. */
import { arch, platform } from 'node:os';
import { optional } from '../../kube/objects/optional.ts';
import type { InstancePlatform, InstanceShape, ProviderKind } from '../contract.ts';

/** Sandbox: a directory with an agent of its own. Simulated: an agent on a host in memory, many in one process. */
export type LocalInstanceType = 'sandbox' | 'simulated';

const TYPES: readonly LocalInstanceType[] = ['sandbox', 'simulated'];
const FIELDS = ['type'];
const OSES = ['linux', 'darwin'] as const;
/** By the names of Node. */
const ARCHS: Readonly<Record<string, InstancePlatform['arch']>> = { x64: 'amd64', arm64: 'arm64' };

export const LOCAL: ProviderKind = {
  name: 'local',
  capabilities: { power: true, events: false, startsStopped: true },
  // A host that joins by itself has no config. `configReason` tells what is wrong in one.
  hasInstance: ({ config }) => Object.keys(config).length > 0,
  configReason: localConfigReason,
  needsBootstrap: (shape) => localInstanceType(shape) === 'sandbox',
  // A simulated host downloads nothing.
  platformOf: (shape) => (localInstanceType(shape) === 'sandbox' ? ownPlatform() : undefined),
};

/** A sandbox runs on this machine. */
function ownPlatform(): InstancePlatform | undefined {
  const os = OSES.find((each) => each === platform());
  return os && { os, ...optional('arch', ARCHS[arch()]) };
}

/** Undefined: the host is somewhere on this machine already, and joins by itself. */
export function localInstanceType({ config }: InstanceShape): LocalInstanceType | undefined {
  return TYPES.find((type) => type === config['type']);
}

export function localConfigReason({ config, host, zone }: InstanceShape): string | undefined {
  const unknown = Object.keys(config).find((field) => !FIELDS.includes(field));
  if (unknown !== undefined) return `spec.infra.config: unknown field ${JSON.stringify(unknown)}`;
  if (!('type' in config)) return undefined;
  if (localInstanceType({ config, host }) === undefined) {
    return `spec.infra.config.type: expected ${TYPES.join(' or ')}, got ${JSON.stringify(config['type'])}`;
  }
  if (host !== 'sandbox') return `spec.host.type: expected sandbox for provider local, got ${host}`;
  return zone === undefined ? undefined : zoneReason(zone);
}

/** A label value. */
function zoneReason(zone: string): string | undefined {
  return zone.length <= 63 ? undefined : 'spec.zone: expected at most 63 characters';
}
