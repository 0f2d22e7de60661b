/**
 * Which certificate requests of agents and kubelets are approved, and which are denied with what reason. Pure. One objection is
 * enough. What may only be late in our view waits; every other doubt denies.
 */
import { hasExactName } from '../../os/x509/request.ts';
import { type Check, type Claim, claimOf, isOurs, type Objection } from './claim.ts';
import { contentChecks } from './content.ts';
import { machineChecks } from './machine.ts';
import type { AgentRequest, ApproverInput } from './observe.ts';
import { registrationChecks } from './registration.ts';

export type Approval =
  /** Not in our names, or decided already. */
  | { readonly type: 'Leave'; readonly because: string }
  | { readonly type: 'Wait'; readonly because: string; readonly until: Date }
  | { readonly type: 'Deny'; readonly reason: string; readonly because: string }
  | { readonly type: 'Approve'; readonly reason: string; readonly because: string };

export function planApproval(request: AgentRequest, snapshot: ApproverInput): Approval {
  if (request.state !== 'Pending') return { type: 'Leave', because: `it is ${request.state.toLowerCase()}` };
  if (!isOurs(request)) return { type: 'Leave', because: 'it is in no name of kubenode' };
  const claim = claimOf(request);
  if ('reason' in claim) return answer(claim);
  const objection = firstObjection(claim, snapshot);
  if (objection) return answer(objection);
  return { type: 'Approve', reason: 'KubenodeApproved', because: approvalText(claim) };
}

const checks: readonly Check[] = [
  ...contentChecks,
  ({ request: { content }, name }) => {
    if (content && hasExactName(content, name)) return undefined;
    const text = `the subject is not exactly O=${name.organization}, CN=${name.commonName}`;
    return { reason: 'WrongName', because: text };
  },
  ...machineChecks,
  ...registrationChecks,
];

function firstObjection(claim: Claim, snapshot: ApproverInput): Objection | undefined {
  for (const check of checks) {
    const objection = check(claim, snapshot);
    if (objection) return objection;
  }
  return undefined;
}

function answer({ reason, because, until }: Objection): Approval {
  return until ? { type: 'Wait', because, until } : { type: 'Deny', reason, because };
}

const HOW: Readonly<Record<Exclude<Claim['requester'], 'Agent'>, string>> = {
  Token: 'with its bootstrap token',
  Import: 'by its import',
  Node: 'with the certificate of its kubelet',
};

function approvalText({ requester, machine, isKubelet }: Claim): string {
  if (isKubelet) return `requested by the agent of Machine ${machine} for its kubelet`;
  if (requester === 'Agent') return `renewal by the agent of Machine ${machine}`;
  return `first certificate of the agent of Machine ${machine}, requested ${HOW[requester]}`;
}
