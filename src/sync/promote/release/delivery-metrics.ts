/** Registers the metrics of the delivery of commits, which the process that promotes a Pipeline counts. */
import type { Metrics } from '../../../kube/process/metrics.ts';
import {
  type DeliveryEvent,
  type DeliveryTimes,
  FLEET_LEAD,
  RELEASE_EVENTS,
  RELEASES,
  RESTORE,
  STAGE_EVENTS,
  STAGE_LEAD,
  STAGE_RELEASES,
} from '../../../observability/metrics/delivery.ts';

export function registerDelivery(metrics: Metrics): DeliveryTimes {
  const stageLead = metrics.histogram(STAGE_LEAD);
  const fleetLead = metrics.histogram(FLEET_LEAD);
  const stageReleases = metrics.counter(STAGE_RELEASES);
  const releases = metrics.counter(RELEASES);
  const restore = metrics.histogram(RESTORE);
  const opened = new Set<string>();
  return { pipelineOpened, delivered };

  function pipelineOpened(pipeline: string, stages: readonly string[]): void {
    const key = JSON.stringify([pipeline, ...stages]);
    if (opened.has(key)) return;
    opened.add(key);
    fleetLead.begin({ pipeline });
    restore.begin({ pipeline });
    for (const event of RELEASE_EVENTS) releases.add({ pipeline, event }, 0);
    for (const stage of stages) {
      stageLead.begin({ pipeline, stage });
      for (const event of STAGE_EVENTS) stageReleases.add({ pipeline, stage, event }, 0);
    }
  }

  function delivered(pipeline: string, found: DeliveryEvent): void {
    switch (found.type) {
      case 'Stage': {
        const { stage, event, leadSeconds } = found;
        stageReleases.add({ pipeline, stage, event });
        if (leadSeconds !== undefined) stageLead.observe({ pipeline, stage }, leadSeconds);
        break;
      }
      case 'Release':
        releases.add({ pipeline, event: found.event });
        if (found.leadSeconds !== undefined) fleetLead.observe({ pipeline }, found.leadSeconds);
        break;
      case 'Restored':
        restore.observe({ pipeline }, found.seconds);
        break;
    }
  }
}
