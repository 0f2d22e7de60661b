/** The controllers of NodeRemediers and their jobs, the facts that both read, and the views that only they need. */
import { PRINCIPAL_REMEDY, PRINCIPAL_REMEDYJOB } from '../api/names.ts';
import { createTransform } from '../kube/cache/trim.ts';
import { createView, type View } from '../kube/cache/view.ts';
import type { Views } from '../kube/controller/views.ts';
import type { Resource } from '../kube/objects/object.ts';
import { createLiveFacts } from '../rules/live/live-facts.ts';
import { createMetricReader } from '../rules/live/metric-reader.ts';
import { createWorkloadReader } from '../rules/live/workload-reader.ts';
import { createFactViews } from '../rules/views.ts';
import type { ControllerGroup, GroupParts } from './group.ts';
import { createNotifierController } from './notifier/controller.ts';
import { registerNoticeMetrics } from './notifier/metrics.ts';
import { createRemedyController } from './remedy/controller/controller.ts';
import { registerFaultMetrics } from './remedy/metrics.ts';
import { createRemedyJobController } from './remedyjob/controller.ts';
import { registerRemedyMetrics } from './remedyjob/metrics.ts';
import { createTracerController } from './tracer/controller.ts';

export async function createRemedyControllers(parts: GroupParts): Promise<ControllerGroup> {
  const { connectAs, clock, skewSeconds, random, log, watch, metrics, grants, power, views } = parts;
  const shared = { clock, random, log, client: await connectAs(PRINCIPAL_REMEDY), metrics: watch };
  const own: Record<string, View> = {};
  const { notifications, traces } = parts;
  const notices = registerNoticeMetrics(metrics);
  const facts = createLiveFacts({
    workloads: createWorkloadReader(shared),
    metrics: createMetricReader({ prometheus: parts.prometheus, clock, log }),
    clock,
    skewSeconds,
    views: createFactViews(({ resource, selection, isOwn, omit }, name) => {
      if (!isOwn) return viewOf(views, resource);
      const view = createView({ ...shared, resource, ...selection, transform: createTransform(omit) });
      // Views of the process are named by kind. Where another group has one of this kind, too, it has that name.
      own[views[resource.kind] ? name : resource.kind] = view;
      return view;
    }),
  });
  return {
    controllers: [
      createRemedyController({ facts, grants, metrics: registerFaultMetrics(metrics) }),
      createRemedyJobController({
        facts,
        grants,
        client: await connectAs(PRINCIPAL_REMEDYJOB),
        switches: power,
        eventAnswers: parts.eventAnswers,
        metrics: registerRemedyMetrics(metrics),
      }),
      ...(notifications ? [createNotifierController({ ...notifications, metrics: notices })] : []),
      ...(traces ? [createTracerController(traces)] : []),
    ],
    views: own,
  };
}

function viewOf(views: Views, { kind }: Resource): View {
  const view = views[kind];
  if (!view) throw new Error(`the controllers of NodeRemediers need the view of ${kind} of another group`);
  return view;
}
