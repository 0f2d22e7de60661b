/** Finds what the members of a control plane are started with, by its version and settings. Pure. */
import { canonicalJson } from '../../../kube/objects/digest.ts';
import type { PlaneSettings } from '../../../local/state.ts';
import {
  API_SERVERS,
  ETCD_MEMBERS,
  type MemberRun,
  type PlaneSpec,
  type RunMember,
  type SettledPlane,
} from './driver.ts';

/** The flag by which a newer program serves the APIs and writes the data of an older version. */
export const EMULATED_VERSION = 'emulated-version';
export const ETCD_QUOTA = 'quota-backend-bytes';
const MIB = 1024 ** 2;

export type MemberRuns = Readonly<Record<RunMember, MemberRun>>;

export function memberRuns({ version, etcdVersion, settings }: SettledPlane, emulated?: string): MemberRuns {
  const { quotaMiB, apiServer, controllerManager, scheduler } = settings;
  const emulation = emulated === undefined ? {} : { [EMULATED_VERSION]: emulated };
  const etcd = { version: etcdVersion, flags: { [ETCD_QUOTA]: String(quotaMiB * MIB) } };
  const server = { version, flags: { ...apiServer, ...emulation } };
  const [first, second, third, fourth, fifth] = ETCD_MEMBERS;
  const [server0, server1, server2] = API_SERVERS;
  return {
    [first]: etcd,
    [second]: etcd,
    [third]: etcd,
    [fourth]: etcd,
    [fifth]: etcd,
    [server0]: server,
    [server1]: server,
    [server2]: server,
    'kube-controller-manager': { version, flags: { ...controllerManager, ...emulation } },
    'kube-scheduler': { version, flags: { ...scheduler, ...emulation } },
  };
}

/** Returns the settings with which the members get these flags. */
export function settingsWith(settings: PlaneSettings, runs: MemberRuns): PlaneSettings {
  return {
    ...settings,
    quotaMiB: Number(runs.etcd.flags[ETCD_QUOTA]) / MIB,
    apiServer: runs['kube-apiserver'].flags,
    controllerManager: runs['kube-controller-manager'].flags,
    scheduler: runs['kube-scheduler'].flags,
  };
}

/** They take effect with the next renewal of certificates. */
const APPLIED_LIVE = ['leafLifetimeSeconds', 'renewAtPercent'];

/** Returns the version and the settings that a control plane gets by a change of its members. */
export function changedByUpgrade({
  version,
  settings,
}: Pick<PlaneSpec, 'version' | 'settings'>): Readonly<Record<string, unknown>> {
  const entries = Object.entries(settings).filter(([name]) => !APPLIED_LIVE.includes(name));
  return { version, ...Object.fromEntries(entries) };
}

/** Returns the settings in which the control plane differs from the spec. */
export function settledDifferences(
  settled: SettledPlane | undefined,
  spec: Pick<PlaneSpec, 'version' | 'settings'>,
): readonly string[] {
  if (!settled) return [];
  const before = changedByUpgrade(settled);
  return Object.entries(changedByUpgrade(spec)).flatMap(([name, value]) => {
    const [is, should] = [before[name], value].map(canonicalJson);
    return is === should ? [] : [`${name} is ${is}, not ${should}`];
  });
}
