/** The conditions InfraConfigValid and InfraReady, and `status.infra`. Pure. */
import { PROVIDERS } from '../../../api/enums.ts';
import type { Machine, MachineInfraStatus } from '../../../api/generated/types.ts';
import type { Instance, ProviderError } from '../../../providers/contract.ts';
import { type FollowedObject, followedText } from '../../../providers/followed.ts';
import type { Explanation } from '../../../rollout/explanation.ts';
import { type Finding, finding } from '../finding.ts';

/** Describes what is known of the host of a machine. */
export type InfraObservation =
  | { readonly host: 'JoinsByItself' }
  /** The host exists, and `spec.import` tells how to reach it. */
  | { readonly host: 'Imported' }
  /** Another system has the instance. */
  | { readonly host: 'Followed'; readonly object: FollowedObject }
  | { readonly host: 'NotSupported' }
  /** This process did not open the provider. The hint tells how one does. */
  | { readonly host: 'NotOpen'; readonly hint: string }
  | { readonly host: 'ConfigRefused'; readonly because: string }
  /** The preflight of its creation found why it would never be Ready. */
  | { readonly host: 'Held'; readonly explanation: Explanation }
  | { readonly host: 'Failed'; readonly error: Pick<ProviderError, 'reason' | 'message'> }
  /** Undefined: not found. `because` explains why nothing was done. */
  | {
      readonly host: 'Instance';
      readonly instance: Instance | undefined;
      readonly because: string;
      readonly reason?: 'NeverJoined';
      /** The config was changed after the instance was created. */
      readonly configReason?: string;
      readonly now: Date;
    };

const VALID = finding('InfraConfigValid', 'True', 'AsWanted', 'the provider accepts spec.infra.config');
const SUPPORTED = PROVIDERS.join(' or ');
/** Providers list a new instance after a moment. */
const UNKNOWN_MS = 60_000;

export function infraFindings(machine: Machine, observation: InfraObservation): readonly Finding[] {
  const { provider } = machine.spec.infra;
  const blocker = providerBlocker(machine);
  if (observation.host === 'Instance') {
    return [configFinding(observation.configReason), { ...instanceFinding(machine, observation), blocker }];
  }
  if (observation.host === 'Failed') {
    const { reason, message } = observation.error;
    return [VALID, { ...finding('InfraReady', 'Unknown', reason, message), blocker }];
  }
  if (observation.host === 'Held') {
    const { reason, because, blocker: cause } = observation.explanation;
    const ready = finding('InfraReady', 'False', reason, `no instance is created: ${because}`);
    return [VALID, { ...ready, blocker: cause ?? blocker }];
  }
  if (observation.host === 'ConfigRefused') {
    const ready = finding('InfraReady', 'False', 'InvalidConfig', 'an invalid config has no instance');
    return [configFinding(observation.because), ready];
  }
  return withoutProvider(provider, observation);
}

/** Returns the provider of `spec.infra` as a blocker. It is not an object of the API server. */
export function providerBlocker({ spec }: Machine): NonNullable<Finding['blocker']> {
  return { kind: 'Provider', name: spec.infra.provider };
}

function withoutProvider(
  provider: string,
  observation: Extract<
    InfraObservation,
    { host: 'JoinsByItself' | 'Imported' | 'Followed' | 'NotSupported' | 'NotOpen' }
  >,
): readonly Finding[] {
  if (observation.host === 'JoinsByItself') {
    return [VALID, finding('InfraReady', 'True', 'HostJoins', 'the host joins by itself')];
  }
  if (observation.host === 'Imported') {
    return [VALID, finding('InfraReady', 'True', 'HostExists', 'the host of spec.import exists already')];
  }
  if (observation.host === 'Followed') {
    const { object } = observation;
    const message = `instance ${object.providerID} belongs to ${followedText(object)}`;
    return [VALID, finding('InfraReady', 'True', 'Followed', message)];
  }
  const [reason, message] =
    observation.host === 'NotOpen'
      ? (['ProviderMissing', observation.hint] as const)
      : (['NotSupported', `provider ${provider} is not supported yet. Use ${SUPPORTED}`] as const);
  return [
    finding('InfraConfigValid', 'Unknown', reason, message),
    finding('InfraReady', 'False', reason, message),
  ];
}

function configFinding(reason: string | undefined): Finding {
  return reason === undefined ? VALID : finding('InfraConfigValid', 'False', 'InvalidConfig', reason);
}

type ObservedInstance = Extract<InfraObservation, { host: 'Instance' }>;

function instanceFinding(machine: Machine, { instance, because, reason, now }: ObservedInstance): Finding {
  const type = 'InfraReady';
  if (!instance) return missingFinding(machine, because, now);
  const { id, state } = instance;
  if (reason !== undefined) return finding(type, 'False', reason, `instance ${id} is ${state}: ${because}`);
  if (state === 'Running') return finding(type, 'True', 'AsWanted', 'the instance runs');
  const status = state === 'Unknown' ? 'Unknown' : 'False';
  return finding(type, status, `Instance${state}`, `instance ${id} is ${state}: ${because}`);
}

function missingFinding(machine: Machine, because: string, now: Date): Finding {
  const type = 'InfraReady';
  const { providerID } = machine.status?.infra ?? {};
  if (providerID === undefined) return finding(type, 'False', 'NotCreated', because);
  if (isNew(machine, now)) {
    return finding(type, 'Unknown', 'NotListed', 'the provider does not list the instance yet');
  }
  const message = `instance ${providerID} does not exist any more. Delete the Machine; its set creates another one`;
  return finding(type, 'False', 'InstanceMissing', message);
}

function isNew({ status }: Machine, now: Date): boolean {
  const createdAt = Date.parse(status?.infra?.createdAt ?? '');
  return now.getTime() - createdAt < UNKNOWN_MS;
}

/** Returns the infra status. The id is never changed, and never removed: the API server would refuse it. */
export function infraStatus(machine: Machine, observation: InfraObservation): MachineInfraStatus | undefined {
  const before = machine.status?.infra;
  if (observation.host === 'Followed') {
    return { providerID: recordedId(machine, observation.object.providerID) };
  }
  if (observation.host !== 'Instance') return before;
  const { instance, now } = observation;
  if (instance) return { ...describe(instance), providerID: recordedId(machine, instance.id) };
  return before && { ...before, state: isNew(machine, now) ? 'Unknown' : 'Gone' };
}

function recordedId({ status }: Machine, id: string): string {
  return status?.infra?.providerID ?? id;
}

function describe({ state, zone, addresses, createdAt }: Instance): MachineInfraStatus {
  return {
    state,
    ...(zone === undefined ? {} : { zone }),
    addresses: [...addresses],
    createdAt: createdAt.toISOString(),
  };
}
