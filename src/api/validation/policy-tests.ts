/**
 * Tests of DefenderPolicies: a cluster, what is in work in it, an ask, and the expected verdict. Users write them beside their
 * policies, in `rules/test/policies/`. No npm package here: constructs and the Defender share these types.
 */
import type { DenyReason } from '../deny-reasons.ts';
import type { FaultClass, HolderKind, Risk } from '../enums.ts';
import type { LedgerBreaker, LedgerGrant } from '../generated/types.ts';
import type { Action } from '../steps/steps.ts';

/** Where the test files of a fleet are, below its folder. */
export const POLICY_TESTS_FOLDER = 'rules/test/policies';

export interface PolicyTest {
  readonly name: string;
  /** The verdict: `Granted`, or the first reason of the denial. */
  readonly expect: 'Granted' | DenyReason;
  /** When the ask arrives. Default: 2030-01-01T12:00:00Z, a Tuesday. */
  readonly at?: string;
  readonly facts: PolicyTestFacts;
  /** Default: nothing is in work. */
  readonly ledger?: PolicyTestLedger;
  readonly ask: PolicyTestAsk;
}

export interface PolicyTestFacts {
  readonly machines: readonly PolicyTestMachines[];
  /** Seconds since the last contact with the API server. Default: 0. */
  readonly viewAgeSeconds?: number;
  /** Default: 0. */
  readonly apiErrorPercent?: number;
  /** Default: 0. */
  readonly clockSkewSeconds?: number;
  /** Without it, the control plane could not be read. */
  readonly controlPlane?: readonly PolicyTestMember[];
  /** The results of the queries of `blockers.promql`, by name. Without it Prometheus could not be asked. */
  readonly alerts?: Readonly<Record<string, 'Quiet' | 'Firing' | 'Unknown'>>;
  /** All Pods of the cluster, for `capacity`. Without it they were not observed. */
  readonly pods?: readonly PolicyTestPods[];
}

/** One Pod, or several equal ones. */
export interface PolicyTestPods {
  /** With its namespace: `shop/api`. With `count`: `shop/api` stands for shop/api-1, shop/api-2 and so on. */
  readonly name: string;
  readonly count?: number;
  /** Default: it waits for one. */
  readonly machine?: string;
  readonly requests?: Readonly<Record<string, string>>;
  readonly nodeSelector?: Readonly<Record<string, string>>;
}

/** One machine, or several equal ones. Ready for 30 days, unless the test sets something else. */
export interface PolicyTestMachines {
  /** With `count`: `web` stands for web-1, web-2 and so on. */
  readonly name: string;
  readonly count?: number;
  readonly zone?: string;
  readonly pool?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly readiness?: 'Ready' | 'NotReady' | 'Unknown';
  /** Default: 600. For machines that are Unknown. */
  readonly unknownForSeconds?: number;
  /** For how long facts are unknown that a rule in mode Enforce needs. Default: they are known. */
  readonly unknownFactsForSeconds?: number;
  readonly ageSeconds?: number;
  readonly cordoned?: boolean;
  /** Keys of taints. */
  readonly taints?: readonly string[];
  /** Names of Pods by the label that makes them block. */
  readonly blockingPods?: Readonly<Record<string, string>>;
  /** Names of held Leases of other tools: medik8s-leases/node-m-1. */
  readonly foreignLeases?: readonly string[];
  /** Why a person holds it. */
  readonly hold?: string;
  readonly excluded?: boolean;
  readonly isControlPlane?: boolean;
  /** Default: unknown, which counts as yes. */
  readonly hasLocalData?: boolean;
  readonly repairs?: readonly { readonly secondsAgo: number; readonly rebooted?: boolean }[];
  /** Each resource that Pods may request, such as `cpu: '4'`. Default: 110 Pods that request nothing. */
  readonly allocatable?: Readonly<Record<string, string>>;
}

export interface PolicyTestMember {
  readonly machine: string;
  readonly etcd?: 'Healthy' | 'Unhealthy' | 'Unknown';
  readonly apiServer?: 'Ready' | 'NotReady' | 'Unknown';
  readonly isLeader?: boolean;
  readonly needsWork?: boolean;
}

export interface PolicyTestLedger {
  /** Acts that were granted before the ask: they count in limits and rates, and their outcomes in breakers. */
  readonly acts?: readonly PolicyTestAct[];
  /** Machines that were deleted and not replaced. */
  readonly gone?: Readonly<Record<string, { readonly pool?: string; readonly zone?: string }>>;
  /** By `<policy>/<breaker>/<key>`. Those that the facts open need no entry. */
  readonly breakers?: Readonly<Record<string, { readonly state: LedgerBreaker['state'] }>>;
  /** The answer of a person to exactly this ask, by machine. */
  readonly approvals?: Readonly<Record<string, 'Approved' | 'Refused'>>;
  readonly recovering?: boolean;
}

interface PolicyTestActFields {
  readonly machine: string;
  readonly action: Action;
  /** Default: that of the step; Node for UpdateComponent and UpdateControlPlane, Machine for DeleteMachine. */
  readonly risk?: Risk;
  /** Default: RemedyOperationJob for a step, MachineComponentSet for UpdateComponent, else Machine. */
  readonly holder?: HolderKind;
  /** The rule or set: `NodeRemedier/kernel-hang`. Acts of one origin count together per Holder. */
  readonly origin?: string;
}

export interface PolicyTestAct extends PolicyTestActFields {
  /** When it was granted. Default: 60. */
  readonly secondsAgo?: number;
  /** Default: it is still in work. */
  readonly settled?: { readonly secondsAgo: number; readonly outcome?: NonNullable<LedgerGrant['outcome']> };
}

export interface PolicyTestAsk extends PolicyTestActFields {
  readonly faultClass?: FaultClass;
  readonly recovery?: boolean;
}
