/** The metric of notices. Receivers are few, and named by the person who configures them. */
import type { Metrics } from '../../kube/process/metrics.ts';
import { NOTICES } from '../../observability/metrics/repair.ts';

export interface NoticeMetrics {
  sent(receiver: string, outcome: 'Delivered' | 'Refused' | 'Failed'): void;
}

export function registerNoticeMetrics(metrics: Metrics): NoticeMetrics {
  const notices = metrics.counter(NOTICES);
  return { sent: (receiver, outcome) => notices.add({ receiver, outcome }) };
}
