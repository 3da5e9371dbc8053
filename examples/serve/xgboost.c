/* Scores documents by an XGBoost model file: a line of features on stdin, a score on stdout.
 *
 *     cc xgboost.c -o score -L"$FOLDER" -lxgboost -Wl,-rpath,"$FOLDER"
 *     ./score model.ubj < features.txt
 *
 * FOLDER is lib/ in the Python package xgboost, or where `cmake --install` put the library. With XGBoost's sources at hand
 * include <xgboost/c_api.h> in place of the declarations.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int XGBoosterCreate(const void **cached, uint64_t n_cached, void **model);
int XGBoosterLoadModel(void *model, const char *path);
int XGBoosterGetNumFeature(void *model, uint64_t *features);
int XGDMatrixCreateFromMat(const float *rows, uint64_t n_rows, uint64_t features, float missing, void **data);
int XGBoosterPredictFromDMatrix(void *model, void *data, const char *config, const uint64_t **shape, uint64_t *dimensions,
                                const float **scores);
int XGDMatrixFree(void *data);

int main(int argc, char **argv) {
    void *model, *data;
    uint64_t features, dimensions;
    const uint64_t *shape;
    const float *scores;
    const char *margins = "{\"type\": 1, \"training\": false, \"iteration_begin\": 0, \"iteration_end\": 0, "
                          "\"strict_shape\": false}";
    if (argc != 2 || XGBoosterCreate(NULL, 0, &model) || XGBoosterLoadModel(model, argv[1]))
        return fprintf(stderr, "no model\n"), 1;
    XGBoosterGetNumFeature(model, &features);
    float *row = malloc(features * sizeof *row);
    for (;;) {
        for (uint64_t i = 0; i < features; i++)
            if (scanf("%f", &row[i]) != 1) return 0; /* "nan" is a missing value */
        if (XGDMatrixCreateFromMat(row, 1, features, NAN, &data) ||
            XGBoosterPredictFromDMatrix(model, data, margins, &shape, &dimensions, &scores))
            return fprintf(stderr, "no score\n"), 1;
        printf("%.9g\n", scores[0]);
        XGDMatrixFree(data);
    }
}
