/**
 * Runs one step of a repair on a machine without rule, Defender and job controller: creates the job and releases its step
 * as their accounts do, under every policy. Test code: nothing in src may import it.
 */
import { REMEDY_OPERATION_JOBS } from '../../src/api/generated/resources.ts';
import type { AgentStep, Machine, RemedyOperationJob } from '../../src/api/generated/types.ts';
import { MANAGER_REMEDY, MANAGER_REMEDYJOB } from '../../src/api/names.ts';
import { type Step, stepEntry, stepReference } from '../../src/api/steps/steps.ts';
import { CliError, EXIT } from '../../src/cli/errors.ts';
import type { Client } from '../../src/kube/client/client.ts';
import { isKubeError } from '../../src/kube/client/errors.ts';
import { NODES } from '../../src/kube/objects/core-kinds.ts';
import type { Clock } from '../../src/os/clock.ts';
import { eventually } from './eventually.ts';
import { type Granter, readMachine, seconds, untilObserved } from './granter.ts';

export interface RepairOptions {
  readonly granter: Granter;
  /** Signed in as kubenode-defender, which reads Machines, Nodes and jobs for every controller. */
  readonly defender: Client;
  /** Signed in as kubenode-remedy. */
  readonly remedy: Client;
  /** Signed in as kubenode-remedyjob. */
  readonly remedyjob: Client;
  readonly clock: Pick<Clock, 'now'>;
}

export interface RepairRequest {
  readonly machine: string;
  readonly step: Step;
  readonly with?: Readonly<Record<string, unknown>>;
  readonly timeoutSeconds?: number;
}

export interface Repairer {
  /** Creates a job of that one step and releases it. Returns the name of the job. */
  release(request: RepairRequest): Promise<string>;
  /**
   * Ends the job as its controller does. One that stays open keeps changes of components waiting, and the Defender takes a grant
   * that is settled before its job for a loss of the ledger.
   */
  finish(job: string, state: AgentStep['state']): Promise<void>;
  /** Waits for the answer of the agent: a state that does not change any more. */
  answered(job: string, withinSeconds?: number): Promise<AgentStep>;
}

const RELEASE_MS = 59_000;
const API_VERSION = 'kubenode.dev/v1alpha1';

export function createRepairer(options: RepairOptions): Repairer {
  const { granter, defender, remedy, remedyjob, clock } = options;
  return {
    async release(request) {
      const machine = await readMachine(defender, request.machine);
      const node = await readNode(defender, request.machine);
      const name = jobName(request.machine, clock.now());
      const { step } = request;
      const { risk } = stepEntry(step);
      const holder = { kind: 'RemedyOperationJob', name, origin: 'NodeRemedier/by-hand' } as const;
      const grant = await granter.record(request.machine, { holder, action: step, risk, nodeUID: node.uid });
      const job = jobObject(request, { name, machine, node, grant });
      await untilObserved(() => remedy.create(REMEDY_OPERATION_JOBS, job, { fieldManager: MANAGER_REMEDY }));
      const notAfter = seconds(new Date(clock.now().getTime() + RELEASE_MS));
      const release = {
        step: 's1',
        try: 1,
        fence: grant.fence,
        nodeUID: node.uid,
        bootID: node.bootID,
        notAfter,
      };
      const status = {
        apiVersion: API_VERSION,
        kind: 'RemedyOperationJob',
        metadata: { name },
        status: { release },
      };
      const applying = { fieldManager: MANAGER_REMEDYJOB, force: true, subresource: 'status' };
      await untilObserved(() => remedyjob.apply(REMEDY_OPERATION_JOBS, status, applying));
      return name;
    },
    async finish(name, state) {
      const found = await defender.get<RemedyOperationJob>(REMEDY_OPERATION_JOBS, { name });
      if (found.status?.outcome) return;
      const outcome = OUTCOMES[state] ?? 'Ambiguous';
      const settled = {
        type: 'Settled',
        status: 'True',
        reason: outcome,
        message: `by hand: the step is ${state}`,
        lastTransitionTime: seconds(clock.now()),
      };
      const status = {
        apiVersion: API_VERSION,
        kind: 'RemedyOperationJob',
        metadata: { name },
        status: { ...keptRelease(found), outcome: { class: outcome }, conditions: [settled] },
      };
      const applying = { fieldManager: MANAGER_REMEDYJOB, force: true, subresource: 'status' };
      await remedyjob.apply(REMEDY_OPERATION_JOBS, status, applying);
    },
    async answered(name, withinSeconds = 120) {
      return await eventually(
        async () => {
          const job = await defender.get<RemedyOperationJob>(REMEDY_OPERATION_JOBS, { name });
          const [answer] = job.status?.agent?.steps ?? [];
          return answer?.state === 'Running' ? undefined : answer;
        },
        `the agent did not answer job ${name}`,
        withinSeconds * 1000,
      );
    },
  };
}

const OUTCOMES: Readonly<Record<string, string>> = {
  Succeeded: 'Succeeded',
  Failed: 'Permanent',
  Refused: 'Cancelled',
};

/** What a writer leaves out of its fields is removed. */
function keptRelease({ status }: RemedyOperationJob): object {
  return status?.release ? { release: status.release } : {};
}

interface FoundNode {
  readonly uid: string;
  readonly bootID: string;
}

interface JobParts {
  readonly name: string;
  readonly machine: Machine;
  readonly node: FoundNode;
  readonly grant: Awaited<ReturnType<Granter['record']>>;
}

function jobObject(
  { step, with: input = {}, timeoutSeconds = 120 }: RepairRequest,
  { name, machine, node, grant }: JobParts,
): RemedyOperationJob {
  const { id, fence, issuedAt, notAfter } = grant;
  const [, caseId = ''] = /-by-hand-([0-9a-f]{8})-r1-a1$/.exec(name) ?? [];
  const { risk } = stepEntry(step);
  return {
    apiVersion: API_VERSION,
    kind: 'RemedyOperationJob',
    metadata: { name },
    spec: {
      machine: { name: machine.metadata.name, uid: machine.metadata.uid ?? '' },
      node,
      cause: {
        remedier: 'by-hand',
        ruleDigest: `sha256:${'0'.repeat(64)}`,
        commit: 'by-hand',
        case: caseId,
        faultClass: 'Other',
      },
      rung: { name: 'by-hand', index: 1 },
      attempt: 1,
      group: 'by-hand',
      risk,
      grant: { id, fence, issuedAt, notAfter },
      operationID: name.slice(0, 63),
      plan: [
        {
          id: 's1',
          step: stepReference(step),
          executor: 'Agent',
          risk,
          with: input,
          timeoutSeconds,
          onFailure: 'Fail',
          onTimeout: 'Fail',
        },
      ],
      deadline: notAfter,
    },
  } as unknown as RemedyOperationJob;
}

/** A case is eight hexadecimal digits: the time makes each job another one. */
function jobName(machine: string, now: Date): string {
  const id = Math.floor(now.getTime() / 100)
    .toString(16)
    .slice(-8)
    .padStart(8, '0');
  return `${machine}-by-hand-${id}-r1-a1`;
}

interface NodeObject {
  readonly metadata: { readonly uid: string };
  readonly status?: { readonly nodeInfo?: { readonly bootID?: string } };
}

async function readNode(client: Client, name: string): Promise<FoundNode> {
  const node = await client.get<NodeObject>(NODES, { name }).catch((error: unknown) => {
    if (!isKubeError(error, 'NotFound')) throw error;
    throw new CliError(`there is no Node ${name}: a repair is released for one boot of one Node`, {
      hint: 'install a component with identity Kubelet on the machine, and wait until it has registered the Node',
      exitCode: EXIT.badInput,
      cause: error,
    });
  });
  return { uid: node.metadata.uid, bootID: node.status?.nodeInfo?.bootID ?? '' };
}
