/** Defines a notice: the description of a step of a repair job for people outside of the cluster. */
import type { Evidence } from '../../api/generated/types.ts';

/** How urgent a notice is: the severities of HandOff, and `info` for Notify. */
export const NOTICE_SEVERITIES = ['page', 'ticket', 'info'] as const;
export type NoticeSeverity = (typeof NOTICE_SEVERITIES)[number];

/** `Resolved`: the machine needs no person any more because of this step. */
export type NoticeEvent = 'Opened' | 'Resolved';

export interface Notice {
  readonly event: NoticeEvent;
  /** The same for each delivery of this notice: a receiver that gets it twice can tell. */
  readonly id: string;
  /** The same for each case of this machine and rule: systems that keep incidents open add the notice to that incident. */
  readonly incident: string;
  readonly step: 'HandOff' | 'Notify';
  /** The step of the job. */
  readonly stepId: string;
  readonly severity: NoticeSeverity;
  /** The queue or team that it is for. */
  readonly queue: string;
  /** One line for people. */
  readonly summary: string;
  readonly machine: string;
  readonly rule: string;
  readonly faultClass: string;
  readonly job: string;
  /** The commit of the rule. */
  readonly commit: string;
  /** When the step began. */
  readonly at: string;
  readonly faultAt?: string;
  readonly runbook?: string;
  /** The facts that led to the job. */
  readonly evidence: readonly Evidence[];
}
