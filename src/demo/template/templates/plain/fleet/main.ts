/** The fleet program. `npm run synth` writes its objects to rendered/; sync renders the same objects from a commit. */
import { Fleet } from 'kubenode/constructs';
import { clusters } from './clusters.ts';
import { fleetPipeline } from './pipelines.ts';
import { declareShop } from './shop.ts';

const fleet = new Fleet();
fleet.pipeline('fleet', fleetPipeline);
for (const { name, replicas, ...spec } of clusters) declareShop(fleet.cluster(name, spec), replicas);
fleet.synth();
