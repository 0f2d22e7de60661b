/** Finds what the members of a control plane are started with, by its version and settings. Pure. */
import { canonicalJson } from '../../../kube/objects/digest.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { PlaneSettings } from '../../../local/state.ts';
import {
  API_SERVERS,
  ETCD_MEMBERS,
  type MemberRequests,
  type MemberRun,
  OWN_CONTROLLERS,
  type PlaneSpec,
  type RunMember,
  type SettledPlane,
} from './driver.ts';

/** The flag by which a newer program serves the APIs and writes the data of an older version. */
export const EMULATED_VERSION = 'emulated-version';
export const ETCD_QUOTA = 'quota-backend-bytes';
const MIB = 1024 ** 2;

/** Our own controllers are part of it where the driver changes them. */
export type MemberRuns = Readonly<Record<RunMember, MemberRun>> & {
  readonly [OWN_CONTROLLERS]?: MemberRun;
};

export function memberRuns(settled: SettledPlane, emulated?: string): MemberRuns {
  const { version, etcdVersion, settings, requests = {}, controllers: image } = settled;
  const { quotaMiB, apiServer, controllerManager, scheduler } = settings;
  const emulation = emulated === undefined ? {} : { [EMULATED_VERSION]: emulated };
  const etcd = {
    version: etcdVersion,
    flags: { [ETCD_QUOTA]: String(quotaMiB * MIB) },
    ...reserved(requests.etcd),
  };
  const server = {
    version,
    flags: { ...apiServer, ...emulation },
    ...reserved(requests['kube-apiserver']),
  };
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
    'kube-controller-manager': {
      version,
      flags: { ...controllerManager, ...emulation },
      ...reserved(requests['kube-controller-manager']),
    },
    'kube-scheduler': {
      version,
      flags: { ...scheduler, ...emulation },
      ...reserved(requests['kube-scheduler']),
    },
    ...(image === undefined ? {} : { [OWN_CONTROLLERS]: { flags: {}, image } }),
  };
}

/** A member without requests has the run that it had before there could be any. */
function reserved(requests: MemberRequests = {}): Pick<MemberRun, 'requests'> {
  return Object.keys(requests).length === 0 ? {} : { requests };
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
  requests,
}: Pick<SettledPlane, 'version' | 'settings' | 'requests'>): Readonly<Record<string, unknown>> {
  const entries = Object.entries(settings).filter(([name]) => !APPLIED_LIVE.includes(name));
  return { version, ...Object.fromEntries(entries), ...optional('requests', requests) };
}

/** Returns the settings in which the control plane differs from the spec. */
export function settledDifferences(
  settled: SettledPlane | undefined,
  { version, settings, placement }: Pick<PlaneSpec, 'version' | 'settings' | 'placement'>,
): readonly string[] {
  if (!settled) return [];
  const before = changedByUpgrade(settled);
  return Object.entries(changedByUpgrade({ version, settings, requests: placement?.requests })).flatMap(
    ([name, value]) => {
      const [is, should] = [before[name], value].map(canonicalJson);
      return is === should ? [] : [`${name} is ${is}, not ${should}`];
    },
  );
}
