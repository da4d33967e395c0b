// The test's worker bundles this: your workflows, and fakes for the ones that buy.
export * from '../plugin/workflows';
export { awaitVideo, editImage, generateImage, generateVideo } from '@temporal-media/testing/workflows';
