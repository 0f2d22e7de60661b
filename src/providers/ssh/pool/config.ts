/** Reads `spec.infra.config` of provider ssh: the pool from which a host is taken, and which of its hosts. Pure. */
import { isRecord } from '../../../kube/objects/json.ts';
import type { InstanceShape, ProviderKind } from '../../contract.ts';

/** The hosts that a Machine accepts. */
export interface PoolSelector {
  readonly pool: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly zone?: string;
}

const FIELDS = ['pool', 'selector'];
const NAME = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
const MAX_LABELS = 16;

/** A Machine with `spec.import` names its host itself. */
export const SSH: ProviderKind = {
  name: 'ssh',
  capabilities: { power: false, events: false, startsStopped: false },
  hasInstance: ({ config }) => Object.keys(config).length > 0,
  configReason: sshConfigReason,
  // The key of the agent is made on the host, and its request is read back over SSH.
  needsBootstrap: () => false,
};

export function sshConfigReason({ config, host, zone }: InstanceShape): string | undefined {
  if (Object.keys(config).length === 0) return undefined;
  const reason = poolReason(config);
  if (reason !== undefined) return `spec.infra.config${reason}`;
  if (host !== 'systemd') return `spec.host.type: expected systemd for provider ssh, got ${host}`;
  return zone === undefined || zone.length <= 63 ? undefined : 'spec.zone: expected at most 63 characters';
}

function poolReason(config: InstanceShape['config']): string | undefined {
  const { pool, selector = {} } = config;
  const unknown = Object.keys(config).find((field) => !FIELDS.includes(field));
  if (unknown !== undefined) return `: unknown field ${JSON.stringify(unknown)}`;
  if (typeof pool !== 'string' || !NAME.test(pool)) return '.pool: expected the name of a pool';
  if (isSelector(selector)) return undefined;
  return `.selector: expected at most ${MAX_LABELS} labels of hosts, each a text`;
}

function isSelector(value: unknown): value is Readonly<Record<string, string>> {
  if (!isRecord(value)) return false;
  const values = Object.values(value);
  return values.length <= MAX_LABELS && values.every((each) => typeof each === 'string');
}

/** Undefined for a config without a pool, or one that is refused. */
export function selectorOf(shape: InstanceShape): PoolSelector | undefined {
  const { config, zone } = shape;
  const { pool, selector = {} } = config;
  if (sshConfigReason(shape) !== undefined || typeof pool !== 'string' || !isSelector(selector)) {
    return undefined;
  }
  return { pool, labels: selector, ...(zone === undefined ? {} : { zone }) };
}
