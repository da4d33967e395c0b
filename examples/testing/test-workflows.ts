// The test's worker bundles this: your workflows, and fakes of those that buy.
export * from '../plugin/workflows';
export { awaitVideo, editImage, generateImage, generateVideo } from '@temporal-media/testing/workflows';
