/**
 * The root of a fleet program: clusters, pipelines, and the units of each cluster. A chart is one unit of one cluster,
 * identified by its path, such as `test/machines`. Units of the hub itself are under `hub`.
 */
import { App, type AppProps, Chart, type ChartProps } from 'cdk8s';
import { Construct } from 'constructs';
import { Cluster } from './generated/cluster.ts';
import { Pipeline } from './generated/pipeline.ts';
import type { ClusterSpec, PipelineSpec } from './generated/types.ts';

/** Set by sync, which uses the same name. */
const FACTS = Symbol.for('kubenode.facts');
const HUB = 'hub';

export interface ClusterProps extends ClusterSpec {
  /** Labels, which selectors match besides environment and region. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

export class Fleet extends App {
  /** The facts that sync provides; empty outside of sync. */
  readonly facts: Readonly<Record<string, unknown>>;
  private readonly scopes = new Map<string, Construct>();

  constructor(props: AppProps = {}) {
    super({ outdir: process.env['CDK8S_OUTDIR'] ?? 'rendered', ...props });
    this.facts = ((globalThis as Record<symbol, unknown>)[FACTS] ?? {}) as Readonly<Record<string, unknown>>;
  }

  /** Declares a cluster in the hub, and returns the scope for its units. */
  cluster(name: string, { labels, annotations, ...spec }: ClusterProps): FleetCluster {
    const metadata = { name, ...(labels && { labels }), ...(annotations && { annotations }) };
    const object = new Cluster(this.hub('clusters'), name, { metadata, spec });
    return new FleetCluster(object, { spec, labels: labels ?? {}, scope: this.scopeOf(name) });
  }

  /** Declares a pipeline: the stages of every commit. */
  pipeline(name: string, spec: PipelineSpec): Pipeline {
    return new Pipeline(this.hub('pipelines'), name, { metadata: { name }, spec });
  }

  /** The chart of a unit of the hub. */
  hub(unit: string, props: ChartProps = {}): Chart {
    return findOrCreateChart(this.scopeOf(HUB), unit, props);
  }

  private scopeOf(name: string): Construct {
    const scope = this.scopes.get(name) ?? new Construct(this, name);
    this.scopes.set(name, scope);
    return scope;
  }
}

interface FleetClusterProps {
  readonly spec: ClusterSpec;
  readonly labels: Readonly<Record<string, string>>;
  readonly scope: Construct;
}

export class FleetCluster {
  readonly name: string;
  /** The Cluster object in the hub. */
  readonly object: Cluster;
  readonly environment: ClusterSpec['environment'];
  readonly region: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
  private readonly scope: Construct;

  constructor(object: Cluster, { spec, labels, scope }: FleetClusterProps) {
    this.name = object.name;
    this.object = object;
    this.environment = spec.environment;
    this.region = spec.region;
    this.labels = labels;
    this.scope = scope;
  }

  /** The chart of a unit, which is applied, counted and pruned as a whole. Returns the same chart for the same name. */
  unit(name: string, props: ChartProps = {}): Chart {
    return findOrCreateChart(this.scope, name, props);
  }
}

/** Charts add no hash to names, so that moving code in the program renames no objects. */
function findOrCreateChart(scope: Construct, name: string, props: ChartProps): Chart {
  const found = scope.node.tryFindChild(name);
  return found instanceof Chart
    ? found
    : new Chart(scope, name, { disableResourceNameHashes: true, ...props });
}
